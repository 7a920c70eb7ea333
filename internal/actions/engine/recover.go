package engine

import (
	"context"
	"fmt"
	"slices"

	"shardboard/internal/clock"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// recover takes over the runs that an earlier process left open. Nothing is
// sent: a command whose intent is on disk is settled by reading the cluster;
// steps after it are not begun, but for those that only wait for the cluster.
func (e *Engine) recover(ctx context.Context) error {
	cluster, err := e.knownCluster(ctx)
	if err != nil {
		return err
	}
	e.loadCleanups(ctx, cluster)
	runs, err := e.left(ctx, cluster)
	for pause := saveAgain; err != nil; pause = min(2*pause, saveLonger) {
		// While the journal cannot be read nothing is started, and nothing is lost.
		e.o.Log.Error("take over the runs of an earlier process; trying again", "err", err)
		if err := clock.Sleep(ctx, pause); err != nil {
			return err
		}
		runs, err = e.left(ctx, cluster)
	}
	for _, run := range runs {
		x := newExecution(e, run)
		// In the order of their beginning each gets its keys before anybody new.
		keys := e.locks.request(x.id, keysOf(x.run.Steps))
		if !e.begin(x, func() { x.recovered(keys) }) {
			keys.release()
		}
	}
	return nil
}

// left are the open runs of an earlier process, with what is known to have been sent.
func (e *Engine) left(ctx context.Context, cluster string) (runs []Run, err error) {
	open, err := e.o.Journal.OpenRuns(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("read open runs: %w", err)
	}
	for _, record := range open {
		run, err := runOf(record)
		if err != nil {
			// It stays open, for a program that can read it.
			e.o.Log.Error("take over an open run", "run", record.ID, "err", err)
			continue
		}
		intents, err := e.o.Journal.Intents(ctx, run.ID)
		if err != nil {
			return nil, fmt.Errorf("read intents: %w", err)
		}
		runs = append(runs, withIntents(run, intents))
	}
	return runs, nil
}

// knownCluster waits for a table, and so for the cluster's id: runs are settled at the cluster that
// they were made for.
func (e *Engine) knownCluster(ctx context.Context) (string, error) {
	for {
		if t := e.o.Tables.Table(); t.Loaded {
			return t.ClusterID, nil
		}
		if err := clock.Sleep(ctx, firstLook); err != nil {
			return "", err
		}
	}
}

// withIntents is a run as its intents have it: they were written before the
// run itself was. A step that began without one was never sent.
func withIntents(run Run, intents []store.IntentRecord) Run {
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

// recovered settles and ends a run of an earlier process.
func (x *execution) recovered(keys *lockRequest) {
	defer keys.release()
	run := x.now()
	if slices.ContainsFunc(run.Steps, func(s Step) bool { return s.State == Unknown }) {
		select { // an earlier run may have them, until it is settled
		case <-keys.granted:
		case <-x.e.life.Done():
			return
		}
	}
	for i, s := range run.Steps {
		switch {
		case s.State == Unknown:
			if !x.keep(func(r *Run) { r.State, r.Why = Unknown, runUnknown }) || !x.settle(i, silence, nil) {
				return
			}
			s = x.now().Steps[i]
		case s.State.Open() && x.onlyWaits(i) && !x.stopping():
			x.goOn(i)
			return
		case s.State.Open():
			why := message.New("run.restarted",
				"The program ended in the middle of this run. Nothing is sent again; make a new plan for what is "+
					"left.")
			if x.stopping() {
				why = x.stoppedBy()
			}
			x.end(Stopped, why)
			return
		}
		if s.State != Succeeded && s.State != Deferred && s.State != Replaced {
			x.end(s.State, s.Why)
			return
		}
	}
	x.end(Succeeded, message.Message{})
}

// onlyWaits tells whether no step from i on sends anything.
func (x *execution) onlyWaits(i int) bool {
	for _, s := range x.now().Steps[i:] {
		if s.Sends() {
			return false
		}
	}
	return true
}
