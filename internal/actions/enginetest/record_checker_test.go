package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/store"
)

// RecordChecker stands between an engine and its disk. Whenever a run is saved, it
// compares what is saved with the cluster, with the commands that were sent and with
// what was saved before. It lives as long as the rig, across restarts of the
// process.
type RecordChecker struct {
	r *Rig

	// OtherClient reports whether another client has changed the cluster since a time;
	// nil: none does. What was read before that may no longer hold when it is saved.
	OtherClient func(since time.Time) bool

	mu       sync.Mutex
	findings []string
	decoded  [2]decodedRun // the last two, because each is compared with the previous one
}

// decodedRun is a run's record and what it decodes to.
type decodedRun struct {
	body []byte
	run  engine.Run
}

// OnCheckedRig is OnRig with a RecordChecker, whose findings fail the test.
func OnCheckedRig(t *testing.T, s Setup, test func(r *Rig, rc *RecordChecker)) {
	t.Helper()
	rc := &RecordChecker{}
	more := s.Wrap
	s.Wrap = func(o *engine.Options) {
		if more != nil {
			more(o)
		}
		o.Journal = checkedJournal{o.Journal, rc}
	}
	OnRig(t, s, func(r *Rig) {
		rc.r = r
		test(r, rc)
		for _, finding := range rc.Findings() {
			r.Error(finding)
		}
	})
}

// Findings lists what was saved and is not true.
func (rc *RecordChecker) Findings() []string {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return slices.Clone(rc.findings)
}

func (rc *RecordChecker) report(format string, args ...any) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.findings = append(rc.findings, fmt.Sprintf(format, args...))
}

type checkedJournal struct {
	engine.Journal
	checker *RecordChecker
}

func (j checkedJournal) AddRun(ctx context.Context, r store.RunRecord) error {
	err := j.Journal.AddRun(ctx, r)
	if run, ok := j.checker.decode(r); ok && err == nil {
		if run.State != engine.Planned || len(run.Steps) == 0 && !run.IsBatch() {
			j.checker.report("a run starts as %s with %d steps", run.State, len(run.Steps))
		}
	}
	return err
}

// AddIntent checks that no command of the step has been sent before its intent is
// saved.
func (j checkedJournal) AddIntent(ctx context.Context, i store.IntentRecord) error {
	if n := len(j.checker.r.Sent(i.Run)); n > i.Step {
		j.checker.report("step %d of run %s: %d commands had left before its intent was written", i.Step, i.Run, n)
	}
	if had, err := j.Intents(ctx, i.Run); err == nil && slices.ContainsFunc(had, func(o store.IntentRecord) bool { return o.Step == i.Step }) {
		j.checker.report("step %d of run %s gets a second intent", i.Step, i.Run)
	}
	return j.Journal.AddIntent(ctx, i)
}

func (j checkedJournal) SaveRun(ctx context.Context, r store.RunRecord) error {
	run, ok := j.checker.decode(r)
	var problems []string
	if ok {
		problems = j.checker.checkRun(run)
	}
	err := j.Journal.SaveRun(ctx, r)
	if !errors.Is(err, errCut) { // what a killed process writes does not count
		for _, problem := range problems {
			j.checker.report("%s", problem)
		}
	}
	return err
}

func (rc *RecordChecker) decode(r store.RunRecord) (run engine.Run, ok bool) {
	rc.mu.Lock()
	for _, known := range rc.decoded {
		if bytes.Equal(known.body, r.Body) {
			rc.mu.Unlock()
			return known.run, true
		}
	}
	rc.mu.Unlock()
	if err := json.Unmarshal(r.Body, &run); err != nil {
		rc.report("a run cannot be read again: %v", err)
		return run, false
	}
	if run.ID != r.ID || string(run.State) != r.State || run.State.Open() != r.Open {
		rc.report("run %s, %s is written as %s, %s, open: %v", run.ID, run.State, r.ID, r.State, r.Open)
	}
	rc.mu.Lock()
	rc.decoded = [2]decodedRun{{bytes.Clone(r.Body), run}, rc.decoded[0]}
	rc.mu.Unlock()
	return run, true
}

// nextStates lists the states that may follow a state of a run. The same holds for
// steps, except for the states that only runs have.
var nextStates = map[engine.State][]engine.State{
	engine.Planned: {engine.Waiting, engine.Running, engine.Unknown, engine.Stopped, engine.Failed, engine.Refused, engine.Succeeded},
	engine.Waiting: {engine.Planned, engine.Running, engine.Unknown, engine.Stopped, engine.Failed, engine.Refused, engine.Succeeded},
	engine.Running: {engine.Planned, engine.Waiting, engine.Unknown, engine.Succeeded, engine.Failed, engine.Refused,
		engine.Stopped, engine.Deferred, engine.Replaced},
	engine.Unknown:   {engine.Running, engine.Waiting, engine.Succeeded, engine.Failed, engine.Stopped, engine.Deferred},
	engine.Succeeded: {engine.Undone},
	engine.Failed:    {engine.Undone},
	engine.Refused:   {engine.Undone},
	engine.Stopped:   {engine.Undone},
}

// checkRun lists what is wrong with a run that is about to be saved.
func (rc *RecordChecker) checkRun(run engine.Run) (problems []string) {
	var was engine.Run
	if old, ok := rc.r.Disk.savedRun(run.ID); ok {
		was, _ = rc.decode(old)
	}
	// A deferred step is followed by a copy, and the rest may be planned again, but a
	// step that has begun keeps its place.
	for i, s := range was.Steps {
		if !s.Sent.IsZero() && (i >= len(run.Steps) || !run.Steps[i].Command.Equal(s.Command)) {
			return []string{fmt.Sprintf("step %d of run %s had begun and is not there any more", i, run.ID)}
		}
	}
	if was.State != run.State && !slices.Contains(nextStates[was.State], run.State) {
		problems = append(problems, fmt.Sprintf("run %s was %s and is %s", run.ID, was.State, run.State))
	}
	for i, s := range run.Steps {
		before := engine.Planned
		if i < len(was.Steps) && was.Steps[i].Command.Equal(s.Command) && was.Steps[i].Try == s.Try {
			before = was.Steps[i].State
		}
		if before == s.State {
			continue
		}
		if !slices.Contains(nextStates[before], s.State) {
			problems = append(problems, fmt.Sprintf("step %d of run %s was %s and is %s", i, run.ID, before, s.State))
		}
		if l := rc.checkStep(run, i); l != "" {
			problems = append(problems, fmt.Sprintf("step %d of run %s, %s (%s): %s", i, run.ID, s.Op, s.Why.Code, l))
		}
	}
	return problems
}

// checkStep compares the end of a step with the commands that were sent and with the
// cluster at that moment.
func (rc *RecordChecker) checkStep(run engine.Run, i int) string {
	s := run.Steps[i]
	if s.State.Open() || !s.Sends() {
		return ""
	}
	sent := rc.r.sentCount(run.ID, s) - sentBefore(run.Steps[:i], s)
	switch {
	case sent > 1:
		return fmt.Sprintf("was sent %d times", sent)
	case (s.State == engine.Refused || s.State == engine.Replaced || s.State == engine.Stopped || s.Already != "" ||
		s.Why.Code == "step.noIntent") && sent > 0:
		return fmt.Sprintf("is called %s and was sent", s.State)
	}
	if len(rc.r.Sim.Faults().Frozen()) > 0 {
		return "" // a frozen cluster cannot be read
	}
	if rc.OtherClient != nil && len(s.Proven) > 0 && rc.OtherClient(s.Proven[0].At) {
		return ""
	}
	did := rc.r.ReadState().HasEffect(s.Step)
	switch {
	case s.State == engine.Succeeded && !did:
		return "is called succeeded, and its effect is not there"
	case s.State == engine.Succeeded && sent == 0 && s.Already == "":
		return "is called succeeded, and nothing was sent"
	case (s.State == engine.Failed || s.State == engine.Deferred) && sent > 0 && did && s.Why.Code != "step.changedSince":
		return "is called failed, and its effect is there"
	}
	return ""
}

// sentBefore is how often earlier steps with the same command were sent.
func sentBefore(steps []engine.Step, s engine.Step) (n int) {
	for _, o := range steps {
		if o.Command.Equal(s.Command) && (o.State == engine.Deferred || o.State == engine.Succeeded && o.Already == "") {
			n++
		}
	}
	return n
}

// sentCount is how often the cluster received a step's command.
func (r *Rig) sentCount(run string, s engine.Step) (n int) {
	for _, c := range r.Sent(run) {
		if isPrefix(s.Command.Doc, c.Body) {
			n++
		}
	}
	return n
}
