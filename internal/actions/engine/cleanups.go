package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"shardboard/internal/actions"
)

// cleanupKept is how long a completed clean-up is kept. Without it a range is
// taken to be pending clean-up for less time than that.
const cleanupKept = 30 * time.Minute

// cleanups are the ranges whose deletion on the donor our own moves have waited
// for. The changelog does not tell them from ranges that are still to be deleted.
type cleanups struct {
	mu  sync.Mutex
	all []cleanup
}

type cleanup struct {
	actions.Cleanup
	at time.Time // when the server said so, by our clock
}

// add takes the clean-ups from a step that has moved a range. Only moves count
// that the server has answered, and only the range that it logged for them.
func (c *cleanups) add(s Step) {
	if s.State != Succeeded || !s.Answered || !s.Wait || !s.Migrates() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range s.Events {
		done, ok := actions.GivenAway(e)
		if ok && done.NS == s.NS && string(done.Min) == string(s.Min) && string(done.Max) == string(s.Max) {
			c.all = append(c.all, cleanup{done, s.Ended})
		}
	}
}

// list gives the recent ones.
func (c *cleanups) list() (out []actions.Cleanup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := now().Add(-cleanupKept)
	c.all = slices.DeleteFunc(c.all, func(a cleanup) bool { return a.at.Before(late) })
	for _, a := range c.all {
		out = append(out, a.Cleanup)
	}
	return out
}

// loadCleanups takes over the clean-ups that runs of an earlier process have waited
// for. When they cannot be read, those ranges look pending until their time is over.
func (e *Engine) loadCleanups(ctx context.Context, cluster string) {
	records, err := e.o.Journal.RunRecords(ctx, cluster, 0, listLimit)
	if err != nil {
		e.o.Log.Warn("read earlier runs", "err", err)
		return
	}
	late := now().Add(-cleanupKept)
	for _, record := range records {
		if !record.Open && record.Ended.Before(late) {
			continue
		}
		run, err := runOf(record)
		if err != nil {
			continue // reported when the run is shown
		}
		for _, s := range run.Steps {
			e.cleanups.add(s)
		}
	}
}
