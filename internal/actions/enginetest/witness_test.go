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

// Witness stands between an engine and its disk. At the moment at which a run is
// written down it holds what is written against the world, the wire and what was
// written before. It lives as long as the rig, over all lives of the process.
type Witness struct {
	r *Rig

	// Other tells whether another client has changed the world since a time; nil: none
	// does. What was read before may not be so any more when it is written down.
	Other func(since time.Time) bool

	mu   sync.Mutex
	lies []string
	read [2]reading // the last two: each is compared with the one before
}

// reading is a run's record and what it decodes to.
type reading struct {
	body []byte
	run  engine.Run
}

// OnWatchedRig is OnRig with a witness, whose findings fail the test.
func OnWatchedRig(t *testing.T, s Setup, test func(r *Rig, w *Witness)) {
	t.Helper()
	w := &Witness{}
	more := s.Wrap
	s.Wrap = func(o *engine.Options) {
		if more != nil {
			more(o)
		}
		o.Journal = witnessed{o.Journal, w}
	}
	OnRig(t, s, func(r *Rig) {
		w.r = r
		test(r, w)
		for _, lie := range w.Lies() {
			r.Error(lie)
		}
	})
}

// Lies are what was written and is not so.
func (w *Witness) Lies() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.lies)
}

func (w *Witness) lie(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lies = append(w.lies, fmt.Sprintf(format, args...))
}

type witnessed struct {
	engine.Journal
	w *Witness
}

func (j witnessed) AddRun(ctx context.Context, r store.RunRecord) error {
	err := j.Journal.AddRun(ctx, r)
	if run, ok := j.w.decode(r); ok && err == nil {
		if run.State != engine.Planned || len(run.Steps) == 0 {
			j.w.lie("a run begins as %s with %d steps", run.State, len(run.Steps))
		}
	}
	return err
}

// AddIntent counts what has left of the run by then: nothing of this step may
// have.
func (j witnessed) AddIntent(ctx context.Context, i store.IntentRecord) error {
	if n := len(j.w.r.Sent(i.Run)); n > i.Step {
		j.w.lie("step %d of run %s: %d commands had left before its intent was written", i.Step, i.Run, n)
	}
	if had, err := j.Intents(ctx, i.Run); err == nil && slices.ContainsFunc(had, func(o store.IntentRecord) bool { return o.Step == i.Step }) {
		j.w.lie("step %d of run %s gets a second intent", i.Step, i.Run)
	}
	return j.Journal.AddIntent(ctx, i)
}

func (j witnessed) SaveRun(ctx context.Context, r store.RunRecord) error {
	run, ok := j.w.decode(r)
	var lies []string
	if ok {
		lies = j.w.judge(run)
	}
	err := j.Journal.SaveRun(ctx, r)
	if !errors.Is(err, errCut) { // the dead may think what they like
		for _, l := range lies {
			j.w.lie("%s", l)
		}
	}
	return err
}

func (w *Witness) decode(r store.RunRecord) (run engine.Run, ok bool) {
	w.mu.Lock()
	for _, known := range w.read {
		if bytes.Equal(known.body, r.Body) {
			w.mu.Unlock()
			return known.run, true
		}
	}
	w.mu.Unlock()
	if err := json.Unmarshal(r.Body, &run); err != nil {
		w.lie("a run cannot be read again: %v", err)
		return run, false
	}
	if run.ID != r.ID || string(run.State) != r.State || run.State.Open() != r.Open {
		w.lie("run %s, %s is written as %s, %s, open: %v", run.ID, run.State, r.ID, r.State, r.Open)
	}
	w.mu.Lock()
	w.read = [2]reading{{bytes.Clone(r.Body), run}, w.read[0]}
	w.mu.Unlock()
	return run, true
}

// next says what may come after a state of a run; after one of a step, but for
// the states of runs only, the same.
var next = map[engine.State][]engine.State{
	engine.Planned: {engine.Waiting, engine.Running, engine.Unknown, engine.Stopped, engine.Failed, engine.Refused, engine.Succeeded},
	engine.Waiting: {engine.Planned, engine.Running, engine.Unknown, engine.Stopped, engine.Failed, engine.Refused, engine.Succeeded},
	engine.Running: {
		engine.Planned,
		engine.Waiting,
		engine.Unknown,
		engine.Succeeded,
		engine.Failed,
		engine.Refused,
		engine.Stopped,
		engine.Deferred,
		engine.Replaced,
	},
	engine.Unknown:   {engine.Running, engine.Waiting, engine.Succeeded, engine.Failed, engine.Stopped, engine.Deferred},
	engine.Succeeded: {engine.Undone},
	engine.Failed:    {engine.Undone},
	engine.Refused:   {engine.Undone},
	engine.Stopped:   {engine.Undone},
}

// judge says what is wrong with a run that is about to be written.
func (w *Witness) judge(run engine.Run) (lies []string) {
	var was engine.Run
	if old, ok := w.r.Disk.kept(run.ID); ok {
		was, _ = w.decode(old)
	}
	// A step that was put off is followed by a copy of itself, and what is left may be
	// planned again. What has begun stays where it is.
	for i, s := range was.Steps {
		if !s.Sent.IsZero() && (i >= len(run.Steps) || !run.Steps[i].Command.Equal(s.Command)) {
			return []string{fmt.Sprintf("step %d of run %s had begun and is not there any more", i, run.ID)}
		}
	}
	if was.State != run.State && !slices.Contains(next[was.State], run.State) {
		lies = append(lies, fmt.Sprintf("run %s was %s and is %s", run.ID, was.State, run.State))
	}
	for i, s := range run.Steps {
		before := engine.Planned
		if i < len(was.Steps) && was.Steps[i].Command.Equal(s.Command) && was.Steps[i].Try == s.Try {
			before = was.Steps[i].State
		}
		if before == s.State {
			continue
		}
		if !slices.Contains(next[before], s.State) {
			lies = append(lies, fmt.Sprintf("step %d of run %s was %s and is %s", i, run.ID, before, s.State))
		}
		if l := w.judgeStep(run, i); l != "" {
			lies = append(lies, fmt.Sprintf("step %d of run %s, %s (%s): %s", i, run.ID, s.Op, s.Why.Code, l))
		}
	}
	return lies
}

// judgeStep holds the end of a step against the wire and the world of that moment.
func (w *Witness) judgeStep(run engine.Run, i int) string {
	s := run.Steps[i]
	if s.State.Open() || !s.Sends() {
		return ""
	}
	sent := w.r.sentOf(run.ID, s) - before(run.Steps[:i], s)
	switch {
	case sent > 1:
		return fmt.Sprintf("was sent %d times", sent)
	case (s.State == engine.Refused || s.State == engine.Replaced || s.State == engine.Stopped || s.Already != "" ||
		s.Why.Code == "step.noIntent") && sent > 0:
		return fmt.Sprintf("is called %s and was sent", s.State)
	}
	if len(w.r.Sim.Faults().Frozen()) > 0 {
		return "" // the world can't be read, and so nobody can have read it
	}
	if w.Other != nil && len(s.Proven) > 0 && w.Other(s.Proven[0].At) {
		return ""
	}
	did := w.r.World().Did(s.Step)
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

// before is how often earlier steps of the same command were sent.
func before(steps []engine.Step, s engine.Step) (n int) {
	for _, o := range steps {
		if o.Command.Equal(s.Command) && (o.State == engine.Deferred || o.State == engine.Succeeded && o.Already == "") {
			n++
		}
	}
	return n
}

// sentOf is how often a step's command came to the cluster.
func (r *Rig) sentOf(run string, s engine.Step) (n int) {
	for _, c := range r.Sent(run) {
		if isPrefix(s.Command.Doc, c.Body) {
			n++
		}
	}
	return n
}

// kept is a run as it is on the disk, past every process.
func (d *Disk) kept(id string) (store.RunRecord, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.runs, func(r store.RunRecord) bool { return r.ID == id })
	if i < 0 {
		return store.RunRecord{}, false
	}
	return d.runs[i], true
}
