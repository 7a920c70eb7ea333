package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"shardboard/internal/actions"
)

// cleanedKept is how long a clean-up is of interest: nobody takes one for
// pending for longer.
const cleanedKept = 30 * time.Minute

// cleanups are ranges that moves of ours waited for the deletion of. The
// changelog does not tell them from those of which the clean-up is to come.
type cleanups struct {
	mu  sync.Mutex
	all []cleanedAt
}

type cleanedAt struct {
	actions.Cleanup
	at time.Time // when the server said so, by our clock
}

// note takes over what a step says: only a server's own word counts, and only of
// what it logged in that move.
func (c *cleanups) note(s Step) {
	if s.State != Succeeded || !s.Answered || !s.Wait || !s.Migrates() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range s.Events {
		done, ok := actions.GivenAway(e)
		if ok && done.NS == s.NS && string(done.Min) == string(s.Min) && string(done.Max) == string(s.Max) {
			c.all = append(c.all, cleanedAt{done, s.Ended})
		}
	}
}

// list gives those of lately.
func (c *cleanups) list() (out []actions.Cleanup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := now().Add(-cleanedKept)
	c.all = slices.DeleteFunc(c.all, func(a cleanedAt) bool { return a.at.Before(late) })
	for _, a := range c.all {
		out = append(out, a.Cleanup)
	}
	return out
}

// remember takes over what runs of an earlier process waited for. Not to know
// is no failure: then those ranges look pending until their time is over.
func (e *Engine) remember(ctx context.Context, cluster string) {
	records, err := e.o.Journal.RunRecords(ctx, cluster, 0, listLimit)
	if err != nil {
		e.o.Log.Warn("read the runs of before", "err", err)
		return
	}
	late := now().Add(-cleanedKept)
	for _, record := range records {
		if !record.Open && record.Ended.Before(late) {
			continue
		}
		run, err := runOf(record)
		if err != nil {
			continue // told elsewhere
		}
		for _, s := range run.Steps {
			e.cleaned.note(s)
		}
	}
}
