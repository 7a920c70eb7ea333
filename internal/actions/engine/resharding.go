package engine

import (
	"context"
	"errors"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
)

// joinOperation looks whether the cluster works on a resharding or a move whose answer was lost, by a broken
// connection, a time limit, a restart or another process that leads. The step is then running
// and not unknown: its outcome will be read when the operation has ended, and it is never
// started again. It returns how long to wait for the next look; 0 when nothing runs, or it
// is not known whether.
func (x *execution) joinOperation(i int, a answer) time.Duration {
	s := x.current().Steps[i]
	if !s.Copies() || a != noAnswer {
		return 0
	}
	ctx, cancel := context.WithTimeout(x.ctx, readTimeout)
	defer cancel()
	t, err := x.e.opts.Reader.Trace(ctx, x.id, s.Step, s.Sent)
	switch {
	case err != nil && s.joined():
		return joinedPause(x.e.now().Sub(s.Sent)) // the last progress is shown with its time
	case err != nil || !t.Running:
		return 0
	}
	x.showProgress(i, t)
	if !s.joined() {
		change := func(r *Run) {
			r.Steps[i].State, r.Steps[i].Why = Running, stepJoined
			r.State, r.Why = Running, stepJoined
		}
		if x.save(x.ctx, change) != nil {
			x.updateMemory(change)
		}
	}
	if s.Migrates() { // what waits for its shards waits for its end
		return min(joinedPause(x.e.now().Sub(s.Sent)), outcomePollMax)
	}
	return joinedPause(x.e.now().Sub(s.Sent))
}

// joinedPause is the pause after a look at an operation of that age. It is shorter than
// quietPeriod, so that the operation is not seen twice before it counts as ended.
func joinedPause(age time.Duration) time.Duration { return min(progressPause(age), quietPeriod*3/4) }

var stepJoined = message.New("step.joined",
	"No answer came, but the cluster works on it. shardboard follows the operation to its end and does not start it again.")

var stepCommits = message.New("step.reshardCommits",
	"The server refused the abort: the operation has decided to commit, and will.")

// joined reports whether the step follows an operation whose answer was lost.
func (s Step) joined() bool { return s.State == Running && s.Why.Code == stepJoined.Code }

// wasUnknown reports whether the outcome of the step was or is unknown.
func (s Step) wasUnknown() bool { return s.State == Unknown || s.joined() }

// abortedRuns is how many runs are looked at to find the one that aborted a resharding.
const abortedRuns = 100

// reshardEndText says why a resharding has had no effect: because it was aborted, and by
// which run, or else what is known anyway.
func (x *execution) reshardEndText(s Step, err error, otherwise message.Message) message.Message {
	if by := x.runThatAborted(s); by != "" {
		return message.New("step.reshardAbortedBy", "The resharding was aborted by run {run}. The collection is as it was before.",
			message.Text("run", by))
	}
	aborted := errors.Is(err, operation.ErrReshardingAborted)
	for _, e := range x.stepEvents(s) {
		if state, _ := e.Details.Lookup("newState").StringValueOK(); e.What == "resharding.coordinator.transition" && state == "aborting" {
			aborted = true
		}
	}
	if !aborted {
		return otherwise
	}
	return message.New("step.reshardAborted",
		"The resharding was aborted, by the server or by somebody else; not by a run of shardboard. The collection is as it was before.")
}

// runThatAborted finds the run that sent an abort of the collection's resharding since the
// step was sent.
func (x *execution) runThatAborted(s Step) string {
	ctx, cancel := context.WithTimeout(x.ctx, readTimeout)
	defer cancel()
	records, err := x.e.opts.Journal.RunRecords(ctx, x.current().Cluster, 0, abortedRuns)
	if err != nil {
		x.e.opts.Log.Warn("look for the run that aborted a resharding", "run", x.id, "err", err)
		return ""
	}
	for _, record := range records {
		if run := x.e.currentRun(record); run.sentAbort(s) {
			return run.ID
		}
	}
	return ""
}

// sentAbort reports whether the run sent the command that aborts a step's resharding, and
// the server did not refuse it.
func (r Run) sentAbort(of Step) bool {
	for _, s := range r.Steps {
		if s.Effects().Aborts && s.NS == of.NS && !s.Sent.Before(of.Sent) && s.State != Failed && s.State != Refused {
			return true
		}
	}
	return false
}
