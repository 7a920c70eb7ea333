package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
)

func (r *Rig) checkArrives(b interference, c matrixChange, seed uint64, sum *tally, took *durations) {
	r.Helper()
	all := r.Keeper.Directory().All()
	p := all[int(seed)%len(all)]
	shard := fmt.Sprintf("shard-rs-%d", 1+seed%3)
	end := b.start(r)
	defer end()
	time.Sleep(20*time.Second + time.Duration(seed%97)*731*time.Millisecond) // the balancer is busy by then

	before := r.picture()
	run, ok := r.runUntilStarted(func() (actions.Plan, error) {
		return r.Engine.Plan(r.Context(), Anna, engine.Request{Kind: c.kind, Args: c.args(r, p, shard), Reason: "a test"})
	}, Anna, sum, string(c.kind))
	if !ok {
		return
	}
	r.checkRun(run, b.againstZones || !actions.Describe(c.kind).Adapts)
	countEvents(run, b, sum)
	if run.State == engine.Succeeded && c.problem != nil && !b.againstZones {
		if not := c.problem(r, p, shard); not != "" {
			r.Errorf("succeeded, and %s", not)
		}
	}
	sum.count(b.name + " " + string(c.kind) + " " + string(run.State))
	took.add(b.name+" "+string(c.kind), run.Ended.Sub(run.Started))
	if !run.CanUndo() {
		return
	}
	undo, ok := r.runUntilStarted(func() (actions.Plan, error) { return r.Engine.Undo(r.Context(), Bert, run.ID, "") },
		Bert, sum, "undo of "+string(c.kind))
	if !ok {
		return
	}
	r.checkRun(undo, b.againstZones)
	countEvents(undo, b, sum)
	if b.name == "off" && undo.State == engine.Succeeded {
		if after := r.picture(); after != before {
			r.Errorf("%s and its undo leave\n%s\nfor\n%s", c.kind, after, before)
		}
	}
	sum.count(b.name + " undo of " + string(c.kind) + " " + string(undo.State))
	took.add(b.name+" undo of "+string(c.kind), undo.Ended.Sub(undo.Started))
}

// picture is what a change and its undo must leave as it was: the shards of all ranges, and the zones.
func (r *Rig) picture() string {
	r.Helper()
	r.Must(r.Watcher.Refresh(r.Context()))
	t, out := r.Watcher.Table(), ""
	for _, c := range t.Collections {
		for _, ch := range c.Chunks.All() {
			out += fmt.Sprintln(c.NS, c.Key.Display(ch.Min), ch.Shard)
		}
	}
	for _, z := range t.Zones {
		out += fmt.Sprintln(z.NS, z.Zone, z.RawMin, z.RawMax)
	}
	for _, s := range t.Shards {
		out += fmt.Sprintln(s.Name, slices.Sorted(slices.Values(s.Zones)))
	}
	return out
}

// countEvents counts the obstacles of a run, so that the log shows when a matrix had
// none.
func countEvents(run engine.Run, b interference, sum *tally) {
	for _, s := range run.Steps {
		switch {
		case s.State == engine.Deferred:
			sum.count(b.name + ": put off")
		case s.Already != "":
			sum.count(b.name + ": done already")
		}
	}
	for range run.Adaptations {
		sum.count(b.name + ": adapted")
	}
}

// runUntilStarted plans and runs a change like a person who is told that the cluster
// has changed: again, a few times. It accepts a check that blocks the plan.
func (r *Rig) runUntilStarted(plan func() (actions.Plan, error), by auth.Principal, sum *tally, what string) (engine.Run, bool) {
	r.Helper()
	var why error
	for range 20 {
		p, err := plan()
		var changed *engine.ChangedError
		if errors.As(err, &changed) && len(changed.Differences) > 0 {
			sum.count(what + " not planned: changed")
			return engine.Run{}, false
		}
		r.Must(err)
		if p.Blocked() {
			sum.count(what + " blocked")
			return engine.Run{}, false
		}
		run, _, err := r.RunPlan(by, p)
		var blocked *engine.BlockedError
		switch {
		case err == nil:
			return r.WaitLongEnd(run.ID), true
		case errors.As(err, &changed), errors.As(err, &blocked):
			why = err
		default:
			r.Fatal(err)
		}
	}
	r.Errorf("%s: never begun: %v", what, why)
	return engine.Run{}, false
}

// checkRun compares what is reported of a run with what it did.
func (r *Rig) checkRun(run engine.Run, mayFail bool) {
	r.Helper()
	switch {
	case run.State == engine.Succeeded:
	case !mayFail:
		r.Errorf("%s %s %v", run.Kind, run.State, run.Why)
		for i, s := range run.Steps {
			r.Logf("%v", run.Adaptations)
			r.Logf("%d %s %s %s %q %s changed %v", i, s.Op, s.State, s.Why.Code, s.Error, s.Shard, s.Changed)
		}
	case run.Why.Code == "":
		r.Errorf("%s %s, and nobody says why", run.Kind, run.State)
	}
	r.CheckSentOnce(run)
	moves := 0
	for _, s := range run.Steps {
		if s.NS != "" && !slices.Contains(run.Limits.Collections, s.NS) {
			r.Errorf("a command for %s, which is outside of the limits", s.NS)
		}
		if s.Migrates() && s.State == engine.Succeeded && s.Already == "" {
			moves++
		}
	}
	if moves > run.Limits.Chunks {
		r.Errorf("%d moves, confirmed were %d at most", moves, run.Limits.Chunks)
	}
	intents, err := r.handle.Intents(r.Context(), run.ID)
	r.Must(err)
	if sent := len(r.Sent(run.ID)); sent > len(intents) {
		r.Errorf("%d commands for %d intents", sent, len(intents))
	}
	if s := r.Watcher.Table().Balancer; run.Args.Pause == actions.PauseBalancer && run.Steps[0].Pauses && run.Steps[0].Already == "" &&
		!s.Enabled() {
		r.Errorf("the balancer was paused and is still off")
	}
}
