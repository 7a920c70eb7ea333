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
