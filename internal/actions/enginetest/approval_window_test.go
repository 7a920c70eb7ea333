package enginetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
)

// moreThan is a setup in which a plan that changes more chunks needs approval.
func moreThan(chunks int64) Setup {
	return Setup{Wrap: func(o *engine.Options) { o.Approval.Rules.Chunks = chunks }}
}

// runAs plans a split as somebody and runs it to its end.
func (r *Rig) runAs(by auth.Principal, at int) (actions.Plan, engine.Run) {
	r.Helper()
	p := r.planSplit(by, at)
	run, _, err := r.RunPlan(by, p)
	r.Must(err)
	return p, r.WaitEnd(run.ID)
}

// What a person runs within an hour adds up, with the tokens of that person. Others, approved runs and undos
// are aside, and the refusal names what it counted.
func TestPlansOfOnePersonAddUp(t *testing.T) {
	OnRig(t, moreThan(2), func(r *Rig) {
		token := tokenOf("ci", Anna.ID)
		early := r.planSplit(Anna, 7) // while nothing was run
		first, run := r.runAs(Anna, 5)
		second, _ := r.runAs(token, 15)
		var because string
		for name, by := range map[string]auth.Principal{"the person": Anna, "a token": token} {
			p := r.planSplit(by, 25)
			if len(p.Approval) != 1 || p.Approval[0].Code != "approval.chunksAdded" {
				t.Fatalf("%s: %v", name, p.Approval)
			}
			because = p.Approval[0].String()
			if _, _, err := r.RunPlan(by, p); fault.Of(err) != fault.Conflict || !strings.Contains(fault.Text(err), because) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !strings.Contains(because, second.ID+", "+first.ID) || !strings.Contains(because, "3") {
			t.Errorf("%q does not name %s and %s", because, first.ID, second.ID)
		}
		if _, _, err := r.RunPlan(Anna, early); fault.Of(err) != fault.Conflict {
			t.Errorf("a plan of before: %v", err)
		}
		if p := r.planSplit(Bert, 25); len(p.Approval) != 0 {
			t.Errorf("somebody else: %v", p.Approval)
		}
		undo := r.undo(run.ID)
		expect.Equal(t, len(undo.Approval), 0, "an undo: %v", undo.Approval)
		r.WaitEnd(r.Start(undo).ID)
		p := r.planSplit(Anna, 25)
		r.approve(Bert, p)
		r.WaitEnd(r.Start(p).ID)
		time.Sleep(time.Hour)
		r.runAs(Anna, 8)
		if p := r.planSplit(Anna, 6); len(p.Approval) != 0 {
			t.Errorf("after an hour, with an approved run and an undo in it: %v", p.Approval)
		}
	})
}

// slowRuns is a journal that takes a second to store a run.
type slowRuns struct{ engine.Journal }

func (s slowRuns) AddRun(ctx context.Context, r store.RunRecord) error {
	time.Sleep(time.Second)
	return s.Journal.AddRun(ctx, r)
}

func TestPlansThatAreRunAtTheSameTimeAddUp(t *testing.T) {
	s := Setup{Wrap: func(o *engine.Options) { o.Approval.Rules.Chunks, o.Journal = 2, slowRuns{o.Journal} }}
	OnRig(t, s, func(r *Rig) {
		var plans []actions.Plan
		for _, at := range []int{3, 5, 7, 13, 15, 17} {
			plans = append(plans, r.planSplit(Anna, at))
		}
		ran := make([]bool, len(plans))
		var all sync.WaitGroup
		for i, p := range plans {
			all.Go(func() {
				_, _, err := r.RunPlan(Anna, p)
				ran[i] = err == nil
			})
		}
		all.Wait()
		expect.Equal(t, len(slices.DeleteFunc(ran, func(x bool) bool { return !x })), 2,
			"plans of 6 that ran, while 2 chunks need no approval")
	})
}

// A range in a zone and then the balancer moved nine chunks below a limit of three.
func TestTheBalancerIsNoWayAroundTheLimit(t *testing.T) {
	OnRig(t, moreThan(3), func(r *Rig) {
		addToZone("shard-rs-2", "eu")(r)
		set := actions.Args{NS: NS, Zone: "eu", Min: P(0), Max: P(60)}
		wide := r.Plan(actions.ZoneSetRange, set)
		if len(wide.Approval) != 1 || wide.Approval[0].Code != "approval.chunks" {
			t.Errorf("a range of %v chunks: %v", wide.Effect.ByBalancer, wide.Approval)
		}
		if _, _, err := r.RunPlan(Anna, wide); fault.Of(err) != fault.Conflict {
			t.Errorf("%v", err)
		}
		r.Admin(bson.D{{Key: "updateZoneKeyRange", Value: NS}, {Key: "min", Value: P(0)}, {Key: "max", Value: P(60)}, {Key: "zone", Value: "eu"}})
		r.Restart()
		if on := r.Plan(actions.BalancerOn, actions.Args{}); len(on.Approval) != 1 {
			t.Errorf("the balancer on: %v", on.Approval)
		}
	})
}
