package mongodb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
)

// paused makes a store behave like one whose process was stopped: its clock stands still and it does
// nothing for its lease.
type paused struct {
	at    atomic.Pointer[time.Time]
	stuck atomic.Bool // the clock runs on: only the renewals fail
}

func (p *paused) pause()  { now := time.Now(); p.at.Store(&now) }
func (p *paused) resume() { p.at.Store(nil); p.stuck.Store(false) }

func (p *paused) options(o *Options) {
	o.skipRenewal = func() bool { return p.at.Load() != nil || p.stuck.Load() }
	o.now = func() time.Time {
		if at := p.at.Load(); at != nil {
			return *at
		}
		return time.Now()
	}
}

// replicasOf opens two replicas in a synctest bubble: the first leads and can be paused.
func replicasOf(t *testing.T, f func(t *testing.T, c *simcluster.Cluster, p *paused, leader, follower *DB)) {
	synctest.Test(t, func(t *testing.T) {
		c, at, p := server(t), database(t), &paused{}
		leader := open(t, c, at, p.options, func(o *Options) { o.Timeout = time.Minute })
		follower := open(t, c, at)
		must.That(t, leader.Leads() && !follower.Leads() && leader.Leader().Here && !follower.Leader().Here,
			"the first leads: %v, the second: %v", leader.Leader(), follower.Leader())
		if who := follower.Leader(); who.Name != store.ProcessName() || who.Since.IsZero() {
			t.Errorf("the follower sees %+v", who)
		}
		f(t, c, p, leader, follower)
		p.resume()
	})
}

func TestNextReplicaLeadsAsSoonAsTheLeaderStops(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, _ *paused, leader, follower *DB) {
		time.Sleep(5 * time.Minute)
		must.That(t, leader.Leads() && !follower.Leads(), "the lead changed although nothing happened")
		must.Do(t, leader.Close())
		eventually(t, 1500*time.Millisecond, "the follower leads", follower.Leads)
	})
}

func TestLivingAreTheReplicasThatWereSeenLately(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, p *paused, leader, follower *DB) {
		living := func() int {
			ids, err := follower.Living(t.Context())
			must.Do(t, err)
			return len(ids)
		}
		expect.Equal(t, living(), 2, "live, want both")
		p.stuck.Store(true)
		eventually(t, 12*time.Second, "only the follower lives", func() bool { return living() == 1 })
	})
}

func TestLeaderDoesNotTrustItsLeaseUntilTheEnd(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, p *paused, leader, follower *DB) {
		p.stuck.Store(true)
		eventually(t, 9*time.Second, "the leader stops leading", func() bool { return !leader.Leads() })
		must.That(t, !follower.Leads(), "two replicas lead")
		eventually(t, 4*time.Second, "the follower leads", follower.Leads)
	})
}

// The end of a lease is by a server's clock, and servers differ: what this process saw counts too.
func TestLeaseIsFreeWhateverTheClocksOfServersSay(t *testing.T) {
	begin := time.Unix(1_000_000, 0)
	for name, c := range map[string]struct {
		holder  string
		overdue time.Duration // by the server
		renewed bool          // since it was first seen
		seen    time.Duration // as it is now
		want    bool
	}{
		"given up":                      {"", 0, true, 0, true},
		"one's own":                     {"me", -time.Second, true, 0, true},
		"its leader was killed":         {"other", time.Millisecond, true, 9 * time.Second, true},
		"its leader renews it":          {"other", -7 * time.Second, true, 3 * time.Second, false},
		"the server is ahead":           {"other", 50 * time.Second, true, 4 * time.Second, false},
		"it is, and nobody renews":      {"other", 60 * time.Second, true, 8 * time.Second, true},
		"the server is behind":          {"other", -50 * time.Second, true, 11 * time.Second, false},
		"behind, and nobody renews":     {"other", -50 * time.Second, true, 12 * time.Second, true},
		"seen for the first time, over": {"other", time.Minute, false, 3 * time.Second, false},
		"not renewed since the start":   {"other", time.Minute, false, 4 * time.Second, true},
		"just over":                     {"other", time.Second, false, 4 * time.Second, false},
	} {
		now := begin
		o := Options{now: func() time.Time { return now }}.withDefaults()
		db := &DB{o: o, id: "me", lease: newLease(o)}
		was := leaseDoc{Holder: c.holder, Token: 7, Until: begin}
		if c.renewed {
			db.free(was)
			was.Until = was.Until.Add(3 * time.Second)
		}
		db.free(was)
		now, was.Overdue = now.Add(c.seen), c.overdue.Milliseconds()
		expect.Equal(t, db.free(was), c.want, "%s: free", name)
	}
}

func TestPausedLeaderCannotWriteAndKnowsIt(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, p *paused, leader, follower *DB) {
		ctx := t.Context()
		must.Do(t, leader.NoteWatched(ctx, "c", time.Now(), time.Minute))
		p.pause()
		eventually(t, 12*time.Second, "the follower leads", follower.Leads)
		must.That(t, leader.Leads(), "the leader was not paused")
		// By its own clock it still leads: only the fence stops it.
		err := leader.NoteWatched(ctx, "c", time.Now().Add(time.Hour), time.Minute)
		expect.That(t, errors.Is(err, store.ErrNotLeading) && !leader.Leads(),
			"a paused leader wrote: %v, and still leads: %v", err, leader.Leads())
		if spans, err := follower.WatchedSpans(ctx, "c", time.Time{}, time.Time{}); err != nil || len(spans) != 1 {
			t.Errorf("%v, %v", spans, err)
		}
		if _, err := leader.Append(ctx, store.AuditEntry{At: time.Now(), What: "login.ok"}); err != nil {
			t.Errorf("it cannot write what people do: %v", err)
		}
		p.resume()
		time.Sleep(time.Minute)
		expect.That(t, !leader.Leads() && follower.Leads() && !leader.Leader().Here, "the lead came back by itself")
	})
}

// After a pause, a part can find out before the timer of the lease that the lead is over.
func TestWorkThatNoticesTheLossFirstBeginsAgainWithTheNextLead(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, _ *paused, leader, _ *DB) {
		began := 0
		ctx, cancel := context.WithCancel(t.Context())
		err := leader.Lead(ctx, func(ctx context.Context) error {
			if began++; began == 2 {
				cancel()
				return nil
			}
			token, _ := leader.lease.token()
			time.AfterFunc(time.Second, func() { leader.lease.lose(token) })
			return fmt.Errorf("store: %w", store.ErrNotLeading)
		})
		expect.That(t, err == nil && began == 2, "the work began %d times: %v", began, err)
	})
}

// The transaction has written before the lease is lost, and writes again after it.
func TestTransactionBegunBeforeTheLossOfTheLeaseIsNotStored(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, p *paused, leader, follower *DB) {
		ran := 0
		err := leader.lead(t.Context(), func(ctx context.Context) error {
			if _, err := leader.collection("alerts").InsertOne(ctx, eq("cluster", "c", "id", "1", "body", []byte{1})); err != nil {
				return err
			}
			if ran++; ran == 1 {
				p.pause()
				eventually(t, 12*time.Second, "the follower leads", follower.Leads)
			}
			return nil
		})
		expect.That(t, errors.Is(err, store.ErrNotLeading) && ran != 0, "%v after %d attempts", err, ran)
		if got, err := follower.Alerts(t.Context(), "c"); err != nil || len(got) > 0 {
			t.Errorf("stored: %v, %v", got, err)
		}
	})
}

// A process that is killed leaves its transaction open on the server, with the end of the audit
// record locked.
func TestOpenTransactionOfAKilledReplicaIsEnded(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, p *paused, leader, follower *DB) {
		p.pause()
		err := leader.change(t.Context(), func(ctx context.Context) error {
			if _, err := (transaction{leader}).Append(ctx, store.AuditEntry{At: time.Now(), What: "left.open"}); err != nil {
				return err
			}
			eventually(t, 15*time.Second, "the other replica appends", func() bool {
				_, err := follower.Append(context.Background(), store.AuditEntry{At: time.Now(), What: "login.ok"})
				return err == nil
			})
			return errors.New("killed")
		})
		expect.That(t, err != nil, "it committed")
		rows, err := follower.AuditRecords(t.Context(), 0, 10)
		expect.That(t, err == nil && len(rows) == 1 && rows[0].What == "login.ok", "%v, %v", rows, err)
	})
}

func TestWorkOfTheLeaderStopsAndStartsWithTheLease(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, p *paused, leader, follower *DB) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var running [2]atomic.Int64
		var starts [2]atomic.Int64
		done := make(chan error, 2)
		for i, db := range []*DB{leader, follower} {
			go func() {
				done <- db.Lead(ctx, func(ctx context.Context) error {
					starts[i].Add(1)
					running[i].Add(1)
					defer running[i].Add(-1)
					<-ctx.Done()
					return ctx.Err()
				})
			}()
		}
		synctest.Wait()
		must.That(t, running[0].Load() == 1 && running[1].Load() == 0,
			"running: %d, %d", running[0].Load(), running[1].Load())
		p.stuck.Store(true)
		eventually(t, 12*time.Second, "the work runs at the follower", func() bool { return running[1].Load() == 1 })
		expect.Equal(t, running[0].Load(), 0, "the work runs twice")
		p.resume()
		must.Do(t, follower.Close())
		eventually(t, 2*time.Second, "the work runs at the first again", func() bool { return running[0].Load() == 1 })
		expect.That(t, starts[0].Load() == 2 && running[1].Load() == 0,
			"%d starts; %d at the closed one", starts[0].Load(), running[1].Load())
		cancel()
		for range 2 {
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}

func TestErrorOfTheLeadersWorkEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		db := open(t, server(t), database(t))
		if err := db.Lead(t.Context(), func(context.Context) error { return broken }); !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}

func TestStoreThatFollowsNeverLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t, server(t), database(t), func(o *Options) { o.Follow = true })
		time.Sleep(time.Minute)
		expect.That(t, !db.Leads(), "it leads")
		expect.NoError(t, db.SetSetting(t.Context(), "a", "1"), "SetSetting")
	})
}
