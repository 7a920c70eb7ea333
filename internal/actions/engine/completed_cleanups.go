package engine

import (
	"context"
	"shardboard/internal/actions/operation"
	"slices"
	"sync"
	"time"
)

// cleanupKept is how long a completed clean-up is remembered. A range that is not
// remembered counts as pending clean-up for a shorter time.
const cleanupKept = 30 * time.Minute

// completedCleanups are the ranges that our own moves gave away and whose deletion
// on the donor they waited for. The changelog does not distinguish them from ranges
// that still have to be deleted.
type completedCleanups struct {
	mu  sync.Mutex
	all []completedCleanup
}

type completedCleanup struct {
	operation.Cleanup
	at time.Time // when the server answered, by our clock
}

// add remembers the clean-up of a step that moved a range. It counts only when the
// server itself acknowledged the move, and only for the range that the server
// logged.
func (c *completedCleanups) add(s Step) {
	if s.State != Succeeded || !s.Answered || !s.Wait || !s.Migrates() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range s.Events {
		done, ok := operation.GivenAway(e)
		if ok && done.NS == s.NS && string(done.Min) == string(s.Min) && string(done.Max) == string(s.Max) {
			c.all = append(c.all, completedCleanup{done, s.Ended})
		}
	}
}

// forget drops all, before they are read from the store again.
func (c *completedCleanups) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = nil
}

// list returns the clean-ups that are still remembered.
func (c *completedCleanups) list(now time.Time) (out []operation.Cleanup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := now.Add(-cleanupKept)
	c.all = slices.DeleteFunc(c.all, func(a completedCleanup) bool { return a.at.Before(late) })
	for _, a := range c.all {
		out = append(out, a.Cleanup)
	}
	return out
}

// loadCleanups loads the clean-ups that runs of an earlier process waited for. When
// they cannot be read, those ranges count as pending until their time is over.
func (e *planning) loadCleanups(ctx context.Context, cluster string) {
	records, err := e.opts.Journal.RunRecords(ctx, cluster, 0, runsPageLimit)
	if err != nil {
		e.opts.Log.Warn("read earlier runs", "err", err)
		return
	}
	late := e.now().Add(-cleanupKept)
	e.cleanups.forget()
	for _, record := range records {
		if !record.Open && record.Ended.Before(late) {
			continue
		}
		run, err := decodeRun(record)
		if err != nil {
			continue // reported when somebody opens the run
		}
		for _, s := range run.Steps {
			e.cleanups.add(s)
		}
	}
}
