package enginetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Plan makes a plan as Anna, which must succeed.
func (r *Rig) Plan(kind actions.Kind, a actions.Args) actions.Plan {
	r.Helper()
	p, err := r.Engine.Plan(r.Context(), Anna, engine.Request{Kind: kind, Args: a, Reason: "a test"})
	r.Must(err)
	return p
}

// RunPlan runs a plan and confirms whatever it asks for.
func (r *Rig) RunPlan(by auth.Principal, p actions.Plan) (run engine.Run, created bool, err error) {
	return r.Engine.Run(r.Context(), by, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
}

// refuses fails the test unless somebody may not run a plan, with a sentence that has a part.
func (r *Rig) refuses(by auth.Principal, p actions.Plan, kind fault.Kind, part string) {
	r.Helper()
	if _, _, err := r.RunPlan(by, p); fault.Of(err) != kind || !strings.Contains(fault.Text(err), part) {
		r.Errorf("run of %s by %s: %v, expected %s with %q", p.ID, by.ID, err, kind, part)
	}
}

// Start runs a plan as Anna, which must succeed.
func (r *Rig) Start(p actions.Plan) engine.Run {
	r.Helper()
	run, _, err := r.RunPlan(Anna, p)
	r.Must(err)
	return run
}

// PlanAndRun makes a plan, runs it and waits for the end.
func (r *Rig) PlanAndRun(kind actions.Kind, a actions.Args) engine.Run {
	r.Helper()
	return r.WaitEnd(r.Start(r.Plan(kind, a)).ID)
}

// startAndHold runs a plan until a command reaches a step, where it waits until the rule is removed.
func (r *Rig) startAndHold(p actions.Plan, rule simcluster.Rule) (id string, held *simcluster.Planted) {
	r.Helper()
	rule.Hold = true
	held = r.Sim.Faults().Add(rule)
	id = r.Start(p).ID
	<-held.Reached()
	return id, held
}

func (r *Rig) runNow(id string) engine.Run {
	r.Helper()
	run, err := r.Engine.RunByID(r.Context(), id)
	r.Must(err)
	return run
}

// stop stops a run as Bert, which must succeed.
func (r *Rig) stop(id string) {
	r.Helper()
	r.Must(must.Err(r.Engine.Stop(r.Context(), Bert, id)))
}

// undo plans the undo of a run as Anna, which must succeed.
func (r *Rig) undo(id string) actions.Plan {
	r.Helper()
	p, err := r.Engine.Undo(r.Context(), Anna, id, "")
	r.Must(err)
	return p
}

// runLimit is how long a run may take, in simulated time.
const runLimit = 3 * time.Hour

// Wait waits until a run satisfies a condition.
func (r *Rig) Wait(id string, is func(engine.Run) bool) engine.Run {
	r.Helper()
	run, ok := r.waitFor(id, is)
	must.That(r, ok, "the run is still %s (%s): %+v", run.State, run.Why.Code, run.Steps)
	return run
}

// WaitEnd waits for the end of a run.
func (r *Rig) WaitEnd(id string) engine.Run {
	r.Helper()
	return r.Wait(id, hasEnded)
}

// succeeds waits for the end of a run, which must be proven.
func (r *Rig) succeeds(id string) engine.Run {
	r.Helper()
	run := r.WaitEnd(id)
	must.That(r, run.State == engine.Succeeded, "the run is %s (%v): %+v", run.State, run.Why, run.Steps)
	return run
}

// WaitLongEnd waits for the end of a run that may wait for orphaned documents at
// many steps.
func (r *Rig) WaitLongEnd(id string) engine.Run {
	r.Helper()
	for range 8 {
		if run, ended := r.waitFor(id, hasEnded); ended {
			return run
		}
	}
	return r.WaitEnd(id)
}

// waitFor waits until a run satisfies a condition; ok is false after runLimit.
func (r *Rig) waitFor(id string, is func(engine.Run) bool) (run engine.Run, ok bool) {
	r.Helper()
	changed, end := r.Engine.Subscribe()
	defer end()
	late := time.NewTimer(runLimit)
	defer late.Stop()
	for {
		run, err := r.Engine.RunByID(r.Context(), id)
		r.Must(err)
		if is(run) {
			return run, true
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Second): // an ended run is announced before it is removed from memory
		case <-late.C:
			return run, false
		}
	}
}

func hasEnded(run engine.Run) bool { return !run.State.Open() }

// Sent returns the commands of a run as the cluster received them.
func (r *Rig) Sent(run string) (out []simcluster.Seen) {
	for _, s := range r.Sim.Faults().Seen() {
		if c, ok := s.Comment.StringValueOK(); ok && c == run {
			out = append(out, s)
		}
	}
	return out
}

// CheckSentOnce fails the test when a step of a run was sent more than once or when
// something was sent that is not a command of the run.
func (r *Rig) CheckSentOnce(run engine.Run) {
	r.Helper()
	sent := r.Sent(run.ID)
	expect.That(r, len(sent) <= len(run.Steps), "%d commands of a run of %d steps: %v", len(sent), len(run.Steps), sent)
	at := 0
	for _, s := range sent {
		for at < len(run.Steps) && !isPrefix(run.Steps[at].Command.Doc, s.Body) {
			at++
		}
		if at == len(run.Steps) {
			r.Errorf("sent out of order, twice, or not as planned: %v", s.Body)
			return
		}
		at++
	}
}

// isPrefix reports whether whole begins with all elements of doc.
func isPrefix(doc, whole bson.Raw) bool {
	return len(doc) >= 5 && len(whole) >= len(doc) && string(doc[4:len(doc)-1]) == string(whole[4:len(doc)-1])
}

// ReadFact reads a fact independently of the engine's reader: it loads the whole
// catalogue from the cluster.
func (r *Rig) ReadFact(f operation.Fact) map[string]string {
	r.Helper()
	uri := must.Get(cluster.ParseURI(simcluster.URI()))
	c := must.Get(cluster.Connect(r.Context(), uri, cluster.Options{Dialer: r.Sim}))
	defer func() { _ = c.Close(context.Background()) }()
	t, err := topology.NewWatcher(c, topology.Options{}).Load(r.Context())
	r.Must(err)
	return operation.Fields(t, f)
}

// FactsHold reports whether all facts hold.
func (r *Rig) FactsHold(facts []operation.Fact) bool {
	r.Helper()
	return !slices.ContainsFunc(facts, func(f operation.Fact) bool { return len(f.Against(r.ReadFact(f))) > 0 })
}

// proofHolds reports whether the proof of a run's last step holds, independently of
// the engine.
func (r *Rig) proofHolds(run engine.Run) bool {
	r.Helper()
	last := run.Steps[len(run.Steps)-1]
	switch {
	case last.AwaitsDrain(): // a shard may be empty without being drained
		return r.FactsHold(append(slices.Clone(last.Proof), last.Needs...))
	case last.Op == operation.OpDefragment: // it may be over, of which only its merges tell
		return r.ReadState().HasEffect(last.Step)
	}
	return r.FactsHold(last.Proof)
}

// checkReported fails the test when the state of a run contradicts the cluster.
func (r *Rig) checkReported(run engine.Run) {
	r.Helper()
	r.CheckSentOnce(run)
	if so := r.proofHolds(run); so != (run.State == engine.Succeeded) {
		last := run.Steps[len(run.Steps)-1]
		r.Errorf("the run is reported as %s (%s: %s), but the effect is there: %v", run.State, run.Why.Code, last.Error, so)
	}
}
