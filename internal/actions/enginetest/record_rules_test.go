package enginetest

import (
	"fmt"
	"slices"

	"shardboard/internal/actions/engine"
)

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
