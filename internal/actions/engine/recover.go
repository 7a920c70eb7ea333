package engine

import (
	"context"
	"fmt"
	"slices"

	"shardboard/internal/clock"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// recoverRuns takes over the runs that an earlier process, or the leader before, left open. It sends
// nothing: the outcome of a command whose intent is on disk is resolved by reading
// the cluster. Later steps do not begin, except those that only wait for the
// cluster.
func (e *Engine) recoverRuns(t *term) error {
	ctx := t.ctx
	cluster, err := e.awaitClusterID(ctx)
	if err != nil {
		return err
	}
	e.loadCleanups(ctx, cluster)
	var runs []Run
	read := retrySaving(ctx, func() bool {
		if runs, err = e.interruptedRuns(ctx, cluster); err != nil {
			e.opts.Log.Error("take over the runs of an earlier process; trying again", "err", err)
		}
		return err == nil
	})
	if !read {
		return ctx.Err()
	}
	for _, run := range runs {
		x := newExecution(e, t, run)
		// Runs take their locks in the order in which they began, before any new run.
		lock := x.request(x.claimsToResume())
		if !e.launch(t, x, func() { x.resume(lock) }) {
			lock.release()
		}
	}
	return nil
}

// awaitClusterID waits until the table is loaded and returns the cluster's id. Only
// runs that were made for that cluster are taken over.
func (e *base) awaitClusterID(ctx context.Context) (string, error) {
	for {
		if t := e.opts.Tables.Table(); t.Loaded {
			return t.ClusterID, nil
		}
		if err := clock.Sleep(ctx, outcomePollMin); err != nil {
			return "", err
		}
	}
}

// interruptedRuns returns the open runs of an earlier process, with the steps marked
// whose commands may have been sent.
func (e *base) interruptedRuns(ctx context.Context, cluster string) (runs []Run, err error) {
	open, err := e.opts.Journal.OpenRuns(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("read open runs: %w", err)
	}
	for _, record := range open {
		run, err := decodeRun(record)
		if err != nil {
			// It stays open for a version of the program that can read it.
			e.opts.Log.Error("take over an open run", "run", record.ID, "err", err)
			continue
		}
		intents, err := e.opts.Journal.Intents(ctx, run.ID)
		if err != nil {
			return nil, fmt.Errorf("read intents: %w", err)
		}
		runs = append(runs, applyIntents(run, intents))
	}
	return runs, nil
}

// applyIntents sets the states of open steps according to the intents, which are
// saved before the run itself: a step without an intent was never sent.
func applyIntents(run Run, intents []store.IntentRecord) Run {
	sent := map[int]store.IntentRecord{}
	for _, i := range intents {
		sent[i.Step] = i
	}
	for i := range run.Steps {
		s := &run.Steps[i]
		if !s.State.Open() || !s.Sends() {
			continue
		}
		if in, ok := sent[i]; ok {
			s.State, s.Sent = Unknown, in.At
		} else {
			s.State = Planned
		}
	}
	return run
}

// claimsToResume are what a run of an earlier process has to have again: what it has turned off, and what a command
// whose outcome is not known may have changed.
func (x *execution) claimsToResume() []claim {
	t := x.e.opts.Tables.Table()
	out := pauseClaims(t, x.run.Steps)
	for _, s := range x.run.Steps {
		if s.State == Unknown {
			out = append(out, claimsOf(t, s.Step)...)
		}
	}
	return out
}

// resume resolves the outcomes of a run of an earlier process and ends it.
func (x *execution) resume(lock *lockRequest) {
	defer lock.release()
	run := x.current()
	if run.IsBatch() {
		select { // until its items are taken over
		case <-x.term.ready:
			x.runBatch()
		case <-x.ctx.Done():
		}
		return
	}
	if slices.ContainsFunc(run.Steps, func(s Step) bool { return s.State == Unknown }) {
		select { // an earlier run may hold the locks until its outcome is known
		case <-lock.granted:
		case <-x.ctx.Done():
			return
		}
	}
	for i, s := range run.Steps {
		switch {
		case s.State == Unknown:
			if !x.persist(func(r *Run) { r.State, r.Why = Unknown, runUnknown }) || !x.resolveOutcome(i, noAnswer, nil) {
				return
			}
			s = x.current().Steps[i]
		case s.State.Open() && !slices.ContainsFunc(x.current().Steps[i:], Step.Sends) && !x.stopRequested():
			x.runSteps(i)
			return
		case s.State.Open():
			why := message.New("run.restarted",
				"The program ended in the middle of this run. Nothing is sent again; make a new plan for what is "+
					"left.")
			if x.stopRequested() {
				why = x.stopReason()
			}
			x.endRun(Stopped, why)
			return
		}
		if s.State != Succeeded && s.State != Deferred && s.State != Replaced {
			x.endRun(s.State, s.Why)
			return
		}
	}
	x.endRun(Succeeded, message.Message{})
}
