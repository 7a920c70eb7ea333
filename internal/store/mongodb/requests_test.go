package mongodb

import (
	"context"
	"errors"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
)

func TestRequestIsTakenOnceByTheLeaderOnly(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, p *paused, leader, follower *DB) {
		ctx, now := t.Context(), time.Now()
		for i, id := range []string{"a", "b", "late"} {
			// The time of the host that asks does not matter, because it may be wrong.
			r := store.Request{ID: id, Cluster: "c", What: "run", By: []byte("anna"), Body: []byte(id), Within: time.Minute,
				Made: now.Add(time.Duration(i)*time.Second - time.Hour)}
			if id == "late" {
				r.Within = 0
			}
			must.Do(t, follower.AddRequest(ctx, r))
		}
		if _, err := follower.TakeRequest(ctx, "c"); !errors.Is(err, store.ErrNotLeading) {
			t.Errorf("a follower took a request: %v", err)
		}
		refused.As(t, must.Err(leader.TakeRequest(ctx, "another")), fault.NotFound, "a request of another cluster")
		r, err := leader.TakeRequest(ctx, "c")
		must.That(t, err == nil && r.ID == "a" && r.What == "run" && string(r.By) == "anna" && string(r.Body) == "a",
			"%+v, %v", r, err)
		if gone, err := follower.WithdrawRequest(ctx, "a"); gone || err != nil {
			t.Errorf("a request that was taken was withdrawn: %v", err)
		}
		if gone, err := follower.WithdrawRequest(ctx, "b"); !gone || err != nil {
			t.Errorf("a request was not withdrawn: %v", err)
		}
		if r, err := leader.TakeRequest(ctx, "c"); fault.Of(err) != fault.NotFound {
			t.Errorf("taken again, withdrawn or expired: %+v, %v", r, err)
		}
		if err := follower.AddRequest(ctx, store.Request{ID: "a", Cluster: "c", Within: time.Minute}); fault.Of(err) != fault.Conflict {
			t.Errorf("a request was stored twice: %v", err)
		}
		if s, err := follower.RequestState(ctx, "a"); err != nil || s.Answered || s.Term != leader.Leader().Term {
			t.Errorf("%+v, %v", s, err)
		}
		must.Do(t, leader.AnswerRequest(ctx, "a", []byte("done")))
		if s, err := follower.RequestState(ctx, "a"); err != nil || !s.Answered || string(s.Answer) != "done" {
			t.Errorf("%+v, %v", s, err)
		}

		p.pause()
		eventually(t, 12*time.Second, "the follower leads", follower.Leads)
		if err := leader.AnswerRequest(ctx, "a", []byte("late")); !errors.Is(err, store.ErrNotLeading) {
			t.Errorf("a paused leader answered: %v", err)
		}
		if err := follower.AnswerRequest(ctx, "a", []byte("late")); fault.Of(err) != fault.NotFound {
			t.Errorf("a request of the leader before was answered: %v", err)
		}
		must.Do(t, follower.DropRequests(ctx, now.Add(time.Hour)))
		refused.As(t, must.Err(follower.RequestState(ctx, "a")), fault.NotFound, "an old request is kept")
	})
}

// What is written with the context of a time of leading is refused after it, also if the same process
// leads again.
func TestContextOfAnEarlierTermWritesNothing(t *testing.T) {
	replicasOf(t, func(t *testing.T, _ *simcluster.Cluster, p *paused, leader, follower *DB) {
		leading, _ := leader.lease.current()
		entry := store.AuditEntry{At: time.Now(), What: "run.step"}
		must.Do(t, must.Err(leader.Append(leading, entry)))
		p.pause()
		eventually(t, 12*time.Second, "the follower leads", follower.Leads)
		must.Do(t, follower.Close())
		p.resume()
		eventually(t, 15*time.Second, "the first leads again", func() bool { return leader.Leads() && leader.Leader().Term >= 3 })
		expect.That(t, leading.Err() != nil, "the context of the first term has not ended")
		stale := staleContext{t.Context(), leading}
		if _, err := leader.Append(stale, entry); !errors.Is(err, store.ErrNotLeading) {
			t.Errorf("an entry of the first term: %v", err)
		}
		if err := leader.ConfirmLead(stale); !errors.Is(err, store.ErrNotLeading) {
			t.Errorf("the first term was confirmed: %v", err)
		}
		expect.NoError(t, leader.ConfirmLead(t.Context()), "ConfirmLead")
	})
}

// staleContext has the values of a context that has ended, and has not ended itself: that of a
// process which has not noticed yet.
type staleContext struct {
	context.Context
	of context.Context
}

func (c staleContext) Value(key any) any { return c.of.Value(key) }
