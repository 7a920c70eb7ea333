package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// interference is what a balancer or another client does while a run executes.
type interference struct {
	name  string
	start func(r *Rig) func() // returns a function that ends it
	// againstZones means that somebody moves chunks out of their zones, so a run may
	// also end with the reason why its goal cannot be kept.
	againstZones bool
	// oneSeedIn limits slow tests, in which runs wait for a quarter of an hour again
	// and again, to one seed in so many.
	oneSeedIn uint64
}

func interferences() []interference {
	interfere := func(kind simcluster.InterferenceKind, orphans bool) func(*Rig) func() {
		return func(r *Rig) func() {
			i, err := r.Sim.Interfere(simcluster.Interference{Kind: kind, KeepOrphans: orphans,
				Namespaces: []string{"yorkie-meta.clients", "yorkie-meta.documents"}})
			r.Must(err)
			return i.Stop
		}
	}
	return []interference{
		{name: "off", start: func(r *Rig) func() { r.Admin(bson.D{{Key: "balancerStop", Value: 1}}); return func() {} }},
		{name: "on", start: func(r *Rig) func() { r.Admin(bson.D{{Key: "balancerStart", Value: 1}}); return func() {} }},
		{name: "busy", start: interfere(simcluster.BusyBalancer, false)},
		{name: "busy, orphans", start: interfere(simcluster.BusyBalancer, true), oneSeedIn: 4},
		{name: "against", start: interfere(simcluster.MovesOutOfZones, false), againstZones: true},
	}
}

// matrixChange is a change and the state that the cluster must be in when it has
// succeeded.
type matrixChange struct {
	kind    actions.Kind
	args    func(r *Rig, p placement.Project, shard string) actions.Args
	problem func(r *Rig, p placement.Project, shard string) string // "" when there is none
	// waits: the balancer moves the chunks, which has no end while another client works against it.
	waits bool
}

func matrixChanges() []matrixChange {
	onProject := func(_ *Rig, p placement.Project, _ string) actions.Args { return actions.Args{Project: p.ID.Hex()} }
	pinned := func(_ *Rig, p placement.Project, shard string) actions.Args {
		return actions.Args{Project: p.ID.Hex(), Shard: shard}
	}
	paused := func(what string) func(*Rig, placement.Project, string) actions.Args {
		return func(_ *Rig, p placement.Project, shard string) actions.Args {
			return actions.Args{Project: p.ID.Hex(), Shard: shard, Pause: what}
		}
	}
	byBalancer := func(_ *Rig, p placement.Project, shard string) actions.Args {
		return actions.Args{Project: p.ID.Hex(), Shard: shard, Mode: actions.ModeBalancer}
	}
	chunk := func(r *Rig) (*topology.Collection, topology.Chunk) {
		r.Must(r.Watcher.Refresh(r.Context()))
		c := r.Watcher.Table().Collection("yorkie-meta.clients")
		return c, c.Chunks.At(c.Chunks.Len() / 2)
	}
	bounds := func(r *Rig, c *topology.Collection, ch topology.Chunk) [2]bson.Raw {
		lo := must.Get(c.Key.Document(ch.Min))
		hi := must.Get(c.Key.Document(ch.Max))
		return [2]bson.Raw{lo, hi}
	}
	return []matrixChange{
		{kind: actions.Pin, args: pinned, problem: notAlone(false)},
		{kind: actions.Pin, args: paused(actions.PauseCollections), problem: notAlone(false)},
		{kind: actions.Isolate, args: pinned, problem: notAlone(true)},
		{kind: actions.Isolate, args: paused(actions.PauseBalancer), problem: notAlone(true)},
		{kind: actions.Isolate, args: byBalancer, problem: notAlone(true), waits: true},
		{kind: actions.Spread, args: onProject},
		{kind: actions.SplitProject, args: onProject},
		{kind: actions.Split, args: func(r *Rig, _ placement.Project, _ string) actions.Args {
			r.Must(r.Watcher.Refresh(r.Context()))
			c := r.Watcher.Table().Collection("yorkie-meta.changes") // hashed, so any chunk can be split
			return actions.Args{NS: c.NS, Bounds: bounds(r, c, c.Chunks.At(0)), Parts: 2}
		}},
		{kind: actions.MoveChunk, args: func(r *Rig, _ placement.Project, shard string) actions.Args {
			c, ch := chunk(r)
			if ch.Shard == shard {
				shard = "shard-rs-1"
			}
			if ch.Shard == shard {
				shard = "shard-rs-2"
			}
			return actions.Args{NS: c.NS, Bounds: bounds(r, c, ch), To: shard}
		}},
	}
}

// notAlone returns a check that the whole project is on the shard and, when
// isolated, that nothing else is.
func notAlone(isolated bool) func(*Rig, placement.Project, string) string {
	return func(r *Rig, p placement.Project, shard string) string {
		r.Must(r.Watcher.Refresh(r.Context()))
		t := r.Watcher.Table()
		for _, z := range t.Zones {
			c := t.Collection(z.NS)
			own, others := z.Zone == placement.PinZone(p.ID.Hex()), z.Zone == placement.OthersZone(p.ID.Hex())
			if c == nil || !own && !(others && isolated) {
				continue
			}
			for _, ch := range c.Chunks.All() {
				if ch.Min.Compare(z.Max) < 0 && ch.Max.Compare(z.Min) > 0 && (ch.Shard == shard) != own {
					return fmt.Sprintf("%s: a chunk of %s is on %s", z.Zone, z.NS, ch.Shard)
				}
			}
		}
		return ""
	}
}

// Every kind of change runs in every release while the balancer or another client
// interferes. The change and its undo must succeed or say why they do not, stay
// within the confirmed limits and send one command for each intent.
func TestChangesArriveWhateverTheBalancerDoes(t *testing.T) {
	sum := &tally{}
	t.Cleanup(func() { t.Log(sum) })
	n := 0
	releases := []string{"4.4", "5.0", "6.0", "7.0", "8.0.12"}
	from, to := seeds(t, sampleSize(1, 1, 20))
	for _, b := range interferences() {
		for i, release := range releases {
			for k, c := range matrixChanges() {
				for seed := from; seed < to; seed++ {
					if b.oneSeedIn > 0 && seed%b.oneSeedIn != 1 || b.againstZones && c.waits {
						continue
					}
					// In test-all each change runs in every second release.
					if n++; testing.Short() && n%43 != 7 || (i+k)%sampleSize(1, 2, 1) != 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%d-%s/ACTIONS_SEED=%d", b.name, release, k, c.kind, seed), func(t *testing.T) {
						s := Setup{Seed: seed, Sim: simcluster.Options{ServerVersion: release, Projects: 6, Documents: 120, Still: true, Seed: int64(seed)}}
						OnRig(t, s, func(r *Rig) { r.checkArrives(b, c, seed, sum) })
					})
				}
			}
		}
	}
}

func (r *Rig) checkArrives(b interference, c matrixChange, seed uint64, sum *tally) {
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
		expect.Equal(r, c.problem(r, p, shard), "", "what is wrong although it succeeded")
	}
	sum.count(b.name + " " + string(c.kind) + " " + string(run.State))
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
		expect.That(r, s.NS == "" || slices.Contains(run.Limits.Collections, s.NS),
			"a command for %s, which is outside of the limits", s.NS)
		if s.Migrates() && s.State == engine.Succeeded && s.Already == "" {
			moves++
		}
	}
	expect.That(r, moves <= run.Limits.Chunks, "%d moves, confirmed were %d at most", moves, run.Limits.Chunks)
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
