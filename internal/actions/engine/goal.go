package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/format"
	"shardboard/internal/message"
)

// Who did what a step was there for.
const (
	ByBalancer = "balancer"
	ByOther    = "other"
	ByUnknown  = "unknown" // nobody can be named
)

// Adaptation is one time that the rest of a run was planned again, since the
// cluster had moved on.
type Adaptation struct {
	At      time.Time
	Step    int                  // from which on the steps are new
	Because []actions.Difference // what was not as planned
	Before  int                  // steps that were left
	After   int                  // steps that are left
	Same    bool                 // the same commands: only what they rely on was read again
	Refused bool                 // it was not planned again: that would go beyond what was confirmed
}

// Text says what was planned again, and why the differences in Because are listed.
func (a Adaptation) Text() message.Message {
	pattern := "Adapted at {at}: {after} now left instead of {before}, because:"
	switch {
	case a.Refused:
		pattern = "Not adapted at {at}, because:"
	case len(a.Because) == 1 && a.Because[0].Field == goalField:
		pattern = "Adapted at {at}: {after} added, because the goal was no longer met."
	case a.Step == 0:
		pattern = "Adapted before the first step, at {at}: {after} instead of {before}, because:"
	}
	steps := func(name string, n int) message.Fact {
		return message.Words(name, format.Count(int64(n))+message.Plural(n, " step", " steps"))
	}
	return message.New("adapted", pattern, message.Words("at", format.Clock(a.At)), steps("before", a.Before), steps("after", a.After))
}

// goalField is the field of a difference that means that the goal is no longer met.
const goalField = "goal"

// mostAdaptations bounds how often a run is planned again. A cluster that changes
// this often under a run is not one to change at the same time.
const mostAdaptations = 100

// held reads whether what a step is there for is so already.
func (x *execution) held(s Step) (proof []Reading, held bool) {
	proof, missing, err := x.e.read(x.e.life, s.Achieves())
	return proof, err == nil && len(missing) == 0
}

// already ends a step whose effect is there and which sends nothing.
func (x *execution) already(i int, proof []Reading) bool {
	by := x.author(x.now().Steps[i])
	return x.finish(i, func(s *Step) {
		s.State, s.Proven, s.Already, s.Backoff, s.Changed = Succeeded, proof, by, nil, nil
		s.Why = doneAlready(by)
	})
}

// doneAlready is why a step was done without a command.
func doneAlready(by string) message.Message {
	who := "the balancer or somebody else (not known which)"
	switch by {
	case ByBalancer:
		who = "the balancer"
	case ByOther:
		who = "somebody else"
	}
	return message.New("step.already", "Nothing was sent: {by} had already made this change.", message.Coded("by", by, who))
}

// author tells who has brought about what a step is there for, as far as the
// changelog and the balancer's own log tell.
func (x *execution) author(s Step) string {
	if s.NS == "" || !s.Migrates() {
		return ByUnknown // the log does not tell who splits, and knows nothing of zones and settings
	}
	r := x.now()
	ctx, cancel := context.WithTimeout(x.e.life, readTime)
	defer cancel()
	events, err := x.e.o.Reader.Changelog(ctx, s.NS, r.Started.Add(-Expiry), eventLimit)
	if err != nil {
		return ByUnknown
	}
	t := x.e.o.Tables.Table()
	c := t.Collection(s.NS)
	i := len(events) - 1
	for ; i >= 0; i-- {
		if events[i].What == "moveChunk.commit" && touches(c, s, events[i]) {
			break
		}
	}
	switch {
	case i < 0:
		return ByUnknown
	case t.Balancer.Known && !t.Balancer.Enabled():
		return ByOther
	case x.e.o.Rounds == nil:
		return ByUnknown
	}
	rounds, err := x.e.o.Rounds.BalancerActions(ctx, roundsRead)
	if err != nil {
		return ByUnknown
	}
	at := events[i].Time
	for _, a := range rounds {
		if a.What == "balancer.round" && a.Moved > 0 && !at.Before(a.Time.Add(-a.Took-roundSlack)) && !at.After(a.Time.Add(roundSlack)) {
			return ByBalancer
		}
	}
	if now().Sub(at) > roundLogged && len(rounds) > 0 && rounds[len(rounds)-1].Time.Before(at) {
		return ByOther
	}
	return ByUnknown
}

const (
	roundsRead  = 50
	roundSlack  = 5 * time.Second // between the clocks of the servers that wrote of a move and of its round
	roundLogged = time.Minute     // how long after a move its round is logged at the latest
)

// adapts tells whether the run may be planned again.
func (r Run) adapts() bool { return r.Kind.Adapts() || r.UndoOf != "" }

// tail is where the steps begin that put back what was paused.
func tail(steps []Step) int {
	if i := slices.IndexFunc(steps, func(s Step) bool { return s.Restores }); i >= 0 {
		return i
	}
	return len(steps)
}

// adapt plans the rest of the run again, from step i on, which has an intent and
// was not sent. Without a way to the goal within the limits the step is refused,
// with what is different.
func (x *execution) adapt(i int, readings []Reading, because []actions.Difference) bool {
	run := x.now()
	refuse := func(why message.Message, d []actions.Difference, err error) bool {
		return x.finish(i, func(s *Step) {
			s.State, s.Changed, s.Before = Refused, d, readings
			s.failedBy(err)
			s.Why = why
		})
	}
	if len(run.Adaptations) >= mostAdaptations {
		return refuse(message.New("step.restless",
			"Not sent: the cluster changed again and again during this run. Pause balancing for the run, or "+
				"wait until the cluster is calm."), because, nil)
	}
	end := tail(run.Steps)
	rest, commands, err := x.remaining(run, plain(run.Steps[i:end]))
	var gone *actions.UndoConflictError
	var beyond *ChangedError
	switch {
	case x.e.life.Err() != nil:
		return false
	case errors.As(err, &gone):
		return refuse(stepChanged, slices.Concat(because, gone.Differences), err)
	case errors.As(err, &beyond):
		return refuse(message.New("step.beyondLimits",
			"Not sent: the rest of the change now exceeds the limits that were confirmed. Make a plan for the "+
				"rest."), slices.Concat(because, beyond.Differences), nil)
	case err != nil:
		return refuse(stepUnread, because, err)
	}
	a := Adaptation{
		At:      now(),
		Step:    i + 1,
		Because: because,
		Before:  end - i,
		After:   len(rest.Steps),
		Same:    sameCommands(run.Steps[i:end], commands),
	}
	if !x.recorded(
		auditRunAdapted,
		"ok",
		map[string]string{"step": fmt.Sprint(i), "before": fmt.Sprint(a.Before), "after": fmt.Sprint(a.After)},
	) {
		return false
	}
	step := x.now().Steps[i]
	step.State = Replaced
	if !x.recorded(auditRunStep, outcomeOf(Replaced), stepDetails(i, step)) {
		return false
	}
	return x.keep(func(r *Run) {
		s := &r.Steps[i]
		s.State, s.Ended, s.Before, s.Changed = Replaced, a.At, readings, because
		s.Why = message.New("step.replaced",
			"Not sent: the cluster had changed. The rest was planned again.")
		r.Steps = slices.Concat(r.Steps[:i+1], toRun(rest, commands), r.Steps[end:])
		r.Adaptations = append(slices.Clone(r.Adaptations), a)
		r.State, r.Why = Running, message.Message{}
	})
}

// plain are the steps as they were planned.
func plain(steps []Step) []actions.Step {
	out := make([]actions.Step, len(steps))
	for i, s := range steps {
		out[i] = s.Step
	}
	return out
}

func sameCommands(steps []Step, commands []actions.Command) bool {
	return slices.EqualFunc(steps, commands, func(s Step, c actions.Command) bool { return s.Command.Equal(c) })
}

func toRun(d actions.Draft, commands []actions.Command) []Step {
	out := make([]Step, len(d.Steps))
	for i, s := range d.Steps {
		out[i] = Step{Step: s, Command: commands[i], State: Planned}
	}
	return out
}

// remaining plans what is left of steps, from a table that is read for it. A
// *ChangedError when that is beyond the confirmed limits or a check forbids it.
func (x *execution) remaining(run Run, steps []actions.Step) (actions.Draft, []actions.Command, error) {
	s, err := x.e.situation(x.e.life)
	if err != nil {
		return actions.Draft{}, nil, err
	}
	d, err := x.e.rest(x.e.life, s, run.Kind, run.Args, run.Summary, steps)
	if err != nil {
		return d, nil, err
	}
	return x.e.withinLimits(d, run.Limits, run.moves())
}

// rest drafts what is left of steps, with the jumbo flags of the chunks concerned
// read for it.
func (e *Engine) rest(
	ctx context.Context,
	s actions.Situation,
	kind actions.Kind,
	a actions.Args,
	summary message.Message,
	steps []actions.Step,
) (actions.Draft, error) {
	d, err := actions.Remaining(s, kind, a, summary, steps)
	if err != nil || len(d.Looked) == 0 {
		return d, err
	}
	return actions.Remaining(e.withFlags(ctx, s, d.Looked), kind, a, summary, steps)
}

// withinLimits renders a draft that may be run without being confirmed anew.
func (e *Engine) withinLimits(d actions.Draft, l actions.Limits, moved int) (actions.Draft, []actions.Command, error) {
	if over := l.Exceeded(moved, d); len(over) > 0 {
		return d, nil, changed(over, "What is left to do goes beyond what was confirmed.")
	}
	if d.Blocked() && !d.Reached {
		return d, nil, changed(blocking(d), "A check forbids what is left to do.")
	}
	commands, err := e.render(d.Steps)
	return d, commands, err
}

// blocking are the checks that forbid a draft, as differences.
func blocking(d actions.Draft) (out []actions.Difference) {
	for _, c := range d.Checks {
		if c.Verdict == actions.Block {
			out = append(out, actions.Difference{Field: "check", Want: string(actions.Pass), Got: c.ID})
		}
	}
	return out
}

// moves is how many chunks the run has moved, or has tried to.
func (r Run) moves() (n int) {
	for _, s := range r.Steps {
		if s.Migrates() && s.State == Succeeded && s.Already == "" {
			n++
		}
	}
	return n
}

// missed plans what is missing at the end of a run whose goal is looked at once
// more, and puts it before the steps that restore. False when the run has ended.
func (x *execution) missed() (more, ok bool) {
	run := x.now()
	if !run.Kind.KeepsGoal() || run.UndoOf != "" || run.Args.Mode == actions.ModeBalancer || len(run.Adaptations) >= mostAdaptations {
		return false, true
	}
	d, commands, err := x.goalOf(run)
	var beyond *ChangedError
	switch {
	case x.e.life.Err() != nil:
		return false, false
	case errors.As(err, &beyond):
		a := Adaptation{At: now(), Step: len(run.Steps), Because: beyond.Differences, Refused: true}
		if x.keep(func(r *Run) { r.Adaptations = append(slices.Clone(r.Adaptations), a) }) {
			x.end(Failed, message.New("run.goalLost",
				"Every step was done, but the cluster has since moved away from the goal, further than this run may "+
					"correct. Make a plan for the rest."))
		}
		return false, false
	case err != nil || len(d.Steps) == 0:
		return false, true // every step was proven when it was done
	}
	end := tail(run.Steps)
	a := Adaptation{
		At:      now(),
		Step:    end,
		After:   len(d.Steps),
		Because: []actions.Difference{{Field: goalField, Want: "kept", Got: fmt.Sprint(len(d.Steps))}},
	}
	if !x.recorded(auditRunAdapted, "ok", map[string]string{"step": fmt.Sprint(end), "before": "0", "after": fmt.Sprint(a.After)}) {
		return false, false
	}
	return true, x.keep(func(r *Run) {
		r.Steps = slices.Concat(r.Steps[:end], toRun(d, commands), r.Steps[end:])
		r.Adaptations = append(slices.Clone(r.Adaptations), a)
	})
}

// goalOf drafts what is missing of a run's goal.
func (x *execution) goalOf(run Run) (actions.Draft, []actions.Command, error) {
	if run.Kind == actions.Spread { // which part goes where was decided by the plan
		plan, err := x.e.PlanByID(x.e.life, run.Plan)
		if err != nil {
			return actions.Draft{}, nil, err
		}
		return x.remaining(run, planned(plan.Steps))
	}
	s, err := x.e.situation(x.e.life)
	if err != nil {
		return actions.Draft{}, nil, err
	}
	args := run.Args
	args.Pause = ""
	d, _, err := x.e.o.Planners[run.Kind](s, args)
	if err != nil || len(d.Steps) == 0 {
		return actions.Draft{}, nil, err // nothing is missing, whatever else a check says
	}
	return x.e.withinLimits(d, run.Limits, run.moves())
}

// attribute names those who did what steps were there for, where the balancer's
// log tells by now.
func (x *execution) attribute() {
	for i, s := range x.now().Steps {
		if s.Already != ByUnknown {
			continue
		}
		if by := x.author(s); by != ByUnknown {
			x.show(func(r *Run) {
				r.Steps[i].Already = by
				r.Steps[i].Why = doneAlready(by)
			})
		}
	}
}
