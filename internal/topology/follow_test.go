package topology

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// followed is a fake whose changelog can be followed. Its fields are changed only by change.
type followed struct {
	*fake
	lead    bool          // what Options.Follow says
	broken  error         // what following fails with
	grown   chan struct{} // closed when events or broken change
	cursors int           // that are open
}

func newFollowed(t testing.TB) *followed {
	return &followed{fake: newFake(t), lead: true}
}

func (f *followed) options() Options {
	return Options{Follow: func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.lead
	}}
}

// log adds an entry to the changelog, dated off by the clock of its server.
func (f *followed) log(what string, ns Namespace, off time.Duration) {
	e := Event{ID: fmt.Sprint(len(f.events)), What: what, NS: string(ns), Time: time.Now().Add(off), Shard: "a"}
	f.events = slices.Insert(f.events, 0, e)
	f.stir()
}

func (f *followed) stir() {
	if f.grown != nil {
		close(f.grown)
		f.grown = nil
	}
}

func (f *followed) Follow(ctx context.Context, since time.Time, each func([]Event)) error {
	if err := f.startCall(ctx, "Follow"); err != nil {
		return err
	}
	f.mu.Lock()
	f.cursors++
	f.mu.Unlock()
	defer f.change(func() { f.cursors-- })
	at := 0
	for {
		f.mu.Lock()
		var batch []Event
		for ; at < len(f.events); at++ {
			if e := f.events[len(f.events)-1-at]; !e.Time.Before(since) {
				batch = append(batch, e)
			}
		}
		if f.grown == nil {
			f.grown = make(chan struct{})
		}
		err, grown := f.broken, f.grown
		f.mu.Unlock()
		if err != nil {
			return err
		}
		each(batch)
		select {
		case <-grown:
		case <-time.After(10 * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// An entry has its collection read at once, a quiet minute costs little, and what no entry tells is found by the poll.
func TestEntriesAreSeenAtOnceAndAQuietMinuteCostsLittle(t *testing.T) {
	f := newFollowed(t)
	c := f.add("db.c", 1, 10, 20)
	watch(t, f, f.options(), func(w *Watcher) {
		f.change(func() { f.log("shardCollection.end", "db.c", 0) })
		wait(time.Minute)
		must.That(t, w.Table().Following.Live, "not followed: %+v", w.Table().Following)
		for _, early := range []time.Duration{0, 30 * time.Millisecond} { // the entry, until the change is to be seen
			version := c.highest()
			f.change(func() { f.log("moveChunk.commit", "db.c", 0) })
			wait(early)
			f.change(func() { c.move(1, "c") })
			wait(60 * time.Millisecond)
			if got := w.Table().Collection("db.c").Highest; got == version || len(w.Table().Events) == 0 {
				t.Errorf("an entry %s before its change is not seen after 60 ms more: %v", early, got)
			}
			wait(time.Minute)
		}
		f.mu.Lock()
		before := f.calls["Heads"] + f.calls["Events"] + f.calls["Chunks"]
		f.mu.Unlock()
		wait(time.Minute)
		f.mu.Lock()
		if n := f.calls["Heads"] + f.calls["Events"] + f.calls["Chunks"] - before; n > 2 {
			t.Errorf("%d reads in a quiet minute", n)
		}
		f.mu.Unlock()
		if now := time.Now(); w.Table().Stale(PartRouting, now) || w.Table().Stale(PartEvents, now) {
			t.Error("what is followed counts as stale")
		}
		f.change(func() { c.move(0, "b") })
		wait(31 * time.Second)
		expect.Equal(t, w.Table().Collection("db.c").Chunks.Owner(0), "b",
			"a change without an entry is not seen after 31 s")
	})
}

// A hundred entries a second about one collection cost at most four reads a second, and nobody is a second behind.
func TestAStormIsGathered(t *testing.T) {
	f := newFollowed(t)
	c := f.add("db.c", 1, 10, 20, 30, 40)
	watch(t, f, f.options(), func(w *Watcher) {
		f.change(func() { f.log("shardCollection.end", "db.c", 0) })
		wait(time.Minute)
		f.mu.Lock()
		before := f.calls["Chunks"]
		f.mu.Unlock()
		seq := w.Table().Seq
		for i := range 3000 {
			f.change(func() {
				c.move(i%5, "abc"[i%3:i%3+1])
				f.log("moveChunk.commit", "db.c", 0)
			})
			wait(10 * time.Millisecond)
			behind := int(c.highest().Major - w.Table().Collection("db.c").Highest.Major)
			if behind > 100 || len(w.Table().Events) > 0 && len(f.events) < eventLimit && len(f.events)-len(w.Table().Events) > 100 {
				t.Fatalf("%d changes and %d entries behind after %d", behind, len(f.events)-len(w.Table().Events), i)
			}
		}
		if n := w.Table().Seq - seq; n > 45 {
			t.Errorf("subscribers were told %d times in 30 s", n)
		}
		seq = w.Table().Seq
		f.change(func() { f.log("split", "db.c", 0) }) // of what has been read already
		wait(time.Second)
		expect.That(t, w.Table().Seq != seq, "nobody was told of the last entry of a storm")
		f.mu.Lock()
		defer f.mu.Unlock()
		if n := f.calls["Chunks"] - before; n > 4*30+5 {
			t.Errorf("%d reads in 30 s", n)
		}
	})
}

// Whatever breaks following, at random: no entry is lost or comes twice, their order is the log's whatever the clocks
// say, what is shown is right, two seconds without following have no effect but on the speed, and no cursor stays.
func TestNothingIsLostWhenFollowingBreaks(t *testing.T) {
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			f := newFollowed(t)
			for i := range 3 {
				f.add(Namespace(fmt.Sprintf("db.c%d", i)), byte(i+1), 10, 20, 30)
			}
			watch(t, f, f.options(), func(w *Watcher) {
				for range rng.IntN(4) {
					f.change(func() { f.log("split", "db.c0", 0) })
				}
				wait(time.Second)
				for range 40 {
					f.change(func() { f.step(rng) })
					wait(time.Duration(rng.IntN(4000)) * time.Millisecond)
					f.mu.Lock()
					must.That(t, f.cursors <= 1, "%d cursors", f.cursors)
					f.mu.Unlock()
				}
				f.change(func() { f.broken, f.fail, f.lead = nil, map[string]error{}, true; f.log("split", "db.c0", 0) })
				wait(3 * time.Minute) // also after a refusal it is tried again
				table := w.Table()
				expect.That(t, table.Following.Live && table.Following.Err == nil, "not followed at the end: %+v", table.Following)
				must.That(t, len(table.Events) == len(f.events), "%d of %d entries", len(table.Events), len(f.events))
				for i, e := range table.Events {
					must.That(t, e.ID == f.events[i].ID, "entry %d is %s, want %s", i, e.ID, f.events[i].ID)
				}
				for ns, c := range f.colls {
					for i, row := range c.rows {
						if got := table.Collection(ns).Chunks.Owner(i); got != row.Shard {
							t.Errorf("%s: chunk %d is on %s, shown on %s", ns, i, row.Shard, got)
						}
					}
				}
				f.change(func() { f.lead = false; f.stir() })
				wait(time.Second)
				if f.cursors != 0 || w.follower.isLive() {
					t.Errorf("%d cursors stay, live %t", f.cursors, w.follower.isLive())
				}
			})
		})
	}
}

// step changes the cluster, or what can be read of it. It is called with mu held.
func (f *followed) step(rng *rand.Rand) {
	ns := Namespace(fmt.Sprintf("db.c%d", rng.IntN(3)))
	f.broken = nil
	switch rng.IntN(9) {
	case 0:
		f.broken = fault.Wrap(fault.Forbidden, &DeniedError{Privilege: "find on config.changelog"}, "no")
	case 1:
		f.broken = errors.New("the position was overwritten")
	case 2:
		f.fail["Follow"] = fault.New(fault.Unavailable, "no")
	case 3:
		f.fail["all"] = fault.New(fault.Unavailable, "no")
	case 4:
		f.lead = !f.lead
	case 5:
		delete(f.fail, "Follow")
		delete(f.fail, "all")
	case 6:
		f.colls[ns].move(rng.IntN(4), "abc"[rng.IntN(3):][:1])
	default:
		for range 1 + rng.IntN(5) {
			f.colls[ns].move(rng.IntN(4), "abc"[rng.IntN(3):][:1])
			f.log("moveChunk.commit", ns, time.Duration(rng.IntN(3))*time.Duration(rng.IntN(1200)-600)*time.Second)
		}
	}
	f.stir()
}
