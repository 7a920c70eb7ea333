package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/placement"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// balancing is what a balancer, or somebody else, does while a run is at work.
type balancing struct {
	name  string
	start func(r *Rig) func() // what it gives ends it
	// against: somebody else works against the zones, so that a run may also end with
	// the reason why its goal cannot be kept.
	against bool
	// slow: runs wait for a quarter of an hour again and again, which takes the test
	// long too; one seed in so many is played.
	slow uint64
}

func balancings() []balancing {
	interfere := func(kind simcluster.InterferenceKind, orphans bool) func(*Rig) func() {
		return func(r *Rig) func() {
			i, err := r.Sim.Interfere(
				simcluster.Interference{Kind: kind, KeepOrphans: orphans, Namespaces: []string{"yorkie-meta.clients", "yorkie-meta.documents"}},
			)
			r.Must(err)
			return i.Stop
		}
	}
	return []balancing{
		{name: "off", start: func(r *Rig) func() { r.Admin(bson.D{{Key: "balancerStop", Value: 1}}); return func() {} }},
		{name: "on", start: func(r *Rig) func() { r.Admin(bson.D{{Key: "balancerStart", Value: 1}}); return func() {} }},
		{name: "busy", start: interfere(simcluster.BusyBalancer, false)},
		{name: "busy, orphans", start: interfere(simcluster.BusyBalancer, true), slow: 4},
		{name: "against", start: interfere(simcluster.MovesOutOfZones, false), against: true},
	}
}

// change is one cell's change: what is asked for, and how the cluster must be when
// it has succeeded.
type change struct {
	kind actions.Kind
	args func(r *Rig, p placement.Project, shard string) actions.Args
	so   func(r *Rig, p placement.Project, shard string) string // "" when it is so
}

func changes() []change {
	onProject := func(_ *Rig, p placement.Project, _ string) actions.Args { return actions.Args{Project: p.ID.Hex()} }
	pinned := func(_ *Rig, p placement.Project, shard string) actions.Args {
		return actions.Args{Project: p.ID.Hex(), Shard: shard}
	}
	paused := func(what string) func(*Rig, placement.Project, string) actions.Args {
		return func(_ *Rig, p placement.Project, shard string) actions.Args {
			return actions.Args{Project: p.ID.Hex(), Shard: shard, Pause: what}
		}
	}
	chunk := func(r *Rig) (*topology.Collection, topology.Chunk) {
		r.Must(r.Watcher.Refresh(r.Context()))
		c := r.Watcher.Table().Collection("yorkie-meta.clients")
		return c, c.Chunks.At(c.Chunks.Len() / 2)
	}
	bounds := func(r *Rig, c *topology.Collection, ch topology.Chunk) [2]bson.Raw {
		lo, err := c.Key.Document(ch.Min)
		r.Must(err)
		hi, err := c.Key.Document(ch.Max)
		r.Must(err)
		return [2]bson.Raw{lo, hi}
	}
	return []change{
		{actions.Pin, pinned, alone(false)},
		{actions.Pin, paused(actions.PauseCollections), alone(false)},
		{actions.Isolate, pinned, alone(true)},
		{actions.Isolate, paused(actions.PauseBalancer), alone(true)},
		{actions.Spread, onProject, nil},
		{actions.SplitProject, onProject, nil},
		{actions.Split, func(r *Rig, _ placement.Project, _ string) actions.Args {
			r.Must(r.Watcher.Refresh(r.Context()))
			c := r.Watcher.Table().Collection("yorkie-meta.changes") // hashed: any chunk can be cut
			return actions.Args{NS: c.NS, Bounds: bounds(r, c, c.Chunks.At(0)), Parts: 2}
		}, nil},
		{actions.MoveChunk, func(r *Rig, _ placement.Project, shard string) actions.Args {
			c, ch := chunk(r)
			if ch.Shard == shard {
				shard = "shard-rs-1"
			}
			if ch.Shard == shard {
				shard = "shard-rs-2"
			}
			return actions.Args{NS: c.NS, Bounds: bounds(r, c, ch), To: shard}
		}, nil},
	}
}

// alone: all of the project is on the shard; of an isolation also nothing else.
func alone(isolated bool) func(*Rig, placement.Project, string) string {
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

// Every kind of change on a cluster as people have it, in every release: it
// arrives, or it says why it does not; within the limits that were confirmed, with
// one command for each intent; and so does its undo.
func TestChangesArriveWhateverTheBalancerDoes(t *testing.T) {
	sum, took := &tally{}, &spans{}
	t.Cleanup(func() { t.Logf("%v\n%v", sum, took) })
	releases := []string{"4.4", "5.0", "6.0", "7.0", "8.0.12"}
	from, to := seeds(t, much(1, 1, 20))
	for _, b := range balancings() {
		for v, release := range releases {
			for k, c := range changes() {
				for seed := from; seed < to; seed++ {
					if b.slow > 0 && seed%b.slow != 1 {
						continue
					}
					if testing.Short() && (b.slow > 0 || (v+k)%len(releases) != int(seed)%len(releases)) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%d-%s/ACTIONS_SEED=%d", b.name, release, k, c.kind, seed), func(t *testing.T) {
						t.Parallel()
						s := Setup{Seed: seed, Sim: simcluster.Options{ServerVersion: release, Projects: 6, Documents: 120, Still: true, Seed: int64(seed)}}
						OnRig(t, s, func(r *Rig) { r.arrives(b, c, seed, sum, took) })
					})
				}
			}
		}
	}
}

// spans are how long runs took, in simulated time, by what they did.
type spans struct {
	mu sync.Mutex
	of map[string][]time.Duration
}

func (s *spans) add(what string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string][]time.Duration{}
	}
	s.of[what] = append(s.of[what], d)
}

func (s *spans) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(s.of)) {
		all := slices.Sorted(slices.Values(s.of[what]))
		fmt.Fprintf(&b, "%s: %d, median %s, most %s\n", what, len(all), all[len(all)/2], all[len(all)-1])
	}
	return b.String()
}

func (r *Rig) arrives(b balancing, c change, seed uint64, sum *tally, took *spans) {
	r.Helper()
	all := r.Keeper.Directory().All()
	p := all[int(seed)%len(all)]
	shard := fmt.Sprintf("shard-rs-%d", 1+seed%3)
	end := b.start(r)
	defer end()
	time.Sleep(20*time.Second + time.Duration(seed%97)*731*time.Millisecond) // it is well at work by then

	run, ok := r.insist(func() (actions.Plan, error) {
		return r.Engine.Plan(r.Context(), Anna, engine.Request{Kind: c.kind, Args: c.args(r, p, shard), Reason: "a test"})
	}, Anna, c.kind.Adapts(), sum, string(c.kind))
	if !ok {
		return
	}
	r.stated(run, b.against || !c.kind.Adapts())
	happened(run, b, sum)
	if run.State == engine.Succeeded && c.so != nil && !b.against {
		if not := c.so(r, p, shard); not != "" {
			r.Errorf("succeeded, and %s", not)
		}
	}
	sum.count(b.name + " " + string(c.kind) + " " + string(run.State))
	took.add(b.name+" "+string(c.kind), run.Ended.Sub(run.Started))
	if !run.CanUndo() {
		return
	}
	undo, ok := r.insist(
		func() (actions.Plan, error) { return r.Engine.Undo(r.Context(), Bert, run.ID, "") },
		Bert,
		true,
		sum,
		"undo of "+string(c.kind),
	)
	if !ok {
		return
	}
	r.stated(undo, b.against)
	happened(undo, b, sum)
	sum.count(b.name + " undo of " + string(c.kind) + " " + string(undo.State))
	took.add(b.name+" undo of "+string(c.kind), undo.Ended.Sub(undo.Started))
}

// happened counts what was in the way, so that a matrix in which nothing was shows.
func happened(run engine.Run, b balancing, sum *tally) {
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

// insist plans and runs as a person does who is told that the cluster has moved
// on: anew, a few times. A check that blocks is an answer.
func (r *Rig) insist(plan func() (actions.Plan, error), by auth.Principal, always bool, sum *tally, what string) (engine.Run, bool) {
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
		run, _, err := r.Engine.Run(r.Context(), by, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
		var blocked *engine.BlockedError
		switch {
		case err == nil:
			return r.EndedLate(run.ID), true
		case errors.As(err, &changed), errors.As(err, &blocked):
			why = err
		default:
			r.Fatal(err)
		}
	}
	r.Errorf("%s: never begun: %v", what, why)
	return engine.Run{}, false
}

// stated holds what is said of a run against what it did.
func (r *Rig) stated(run engine.Run, mayFail bool) {
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
	r.SentOnce(run)
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
