package engine

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/store"
)

// How often a process that does not lead reads the runs of the one that does.
const (
	followOpen = 700 * time.Millisecond // while a run is open
	followIdle = 2 * time.Second
)

// followedApprovals bounds the requests for approval that are compared.
const followedApprovals = 100

// follow tells subscribers about runs that another process executes, and about plans that it approves,
// until ctx ends.
func (e *Engine) follow(ctx context.Context) {
	var last []store.RunRecord
	var asked []ApprovalRequest // on whose answers pages wait
	failed := false
	for pause := followIdle; clock.Sleep(ctx, pause) == nil; {
		cluster := e.clusterID()
		if e.opts.Journal.Leads() || cluster == "" {
			last, pause = nil, followIdle
			e.setFollowed(nil)
			continue
		}
		now, err := e.readFollowed(ctx, cluster)
		if err != nil {
			if !failed && ctx.Err() == nil {
				e.opts.Log.Warn("read the runs of the shardboard that leads", "err", err)
			}
			failed = true
			continue
		}
		waiting, err := e.AwaitingApproval(ctx, followedApprovals)
		if err != nil {
			waiting = asked // the next round reads them again
		}
		changed := !slices.EqualFunc(last, now, func(a, b store.RunRecord) bool {
			return a.ID == b.ID && a.State == b.State && bytes.Equal(a.Body, b.Body)
		}) ||
			!slices.EqualFunc(asked, waiting, func(a, b ApprovalRequest) bool { return a.Plan == b.Plan })
		if changed || failed {
			e.setFollowed(now)
			e.subscribers.Notify()
		}
		last, asked, failed, pause = now, waiting, false, followIdle
		if slices.ContainsFunc(now, func(r store.RunRecord) bool { return r.Open }) {
			pause = followOpen
		}
	}
}

// readFollowed reads the newest run and those that are open.
func (e *base) readFollowed(ctx context.Context, cluster string) ([]store.RunRecord, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	newest, err := e.opts.Journal.RunRecords(ctx, cluster, 0, 1)
	if err != nil {
		return nil, err
	}
	open, err := e.opts.Journal.OpenRuns(ctx, cluster)
	return append(newest, open...), err
}

// setFollowed remembers the open runs of another process.
func (e *Engine) setFollowed(records []store.RunRecord) {
	var runs []Run
	for _, r := range records {
		if r.Open {
			runs = append(runs, e.readableRun(r))
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.followed = runs
}

// runsInMemory are the open runs of this process, or of the one that leads.
func (e *Engine) runsInMemory() []Run {
	e.mu.Lock()
	own, runs := slices.Collect(maps.Values(e.executions)), slices.Clone(e.followed)
	e.mu.Unlock()
	for _, x := range own {
		runs = append(runs, x.current())
	}
	return runs
}
