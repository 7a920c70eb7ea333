package enginetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// flag sets or takes the jumbo flag of [0, 10), as the balancer does: without a
// new version.
func (r *Rig) flag(on bool) {
	r.Helper()
	change := bson.D{{Key: "$set", Value: bson.D{{Key: "jumbo", Value: true}}}}
	if !on {
		change = bson.D{{Key: "$unset", Value: bson.D{{Key: "jumbo", Value: ""}}}}
	}
	_, err := r.Sim.Command(r.Context(), "config", bson.D{{Key: "update", Value: "chunks"}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: "min", Value: P(0)}}}, {Key: "u", Value: change}}}}})
	r.Must(err)
}

func checkOf(p actions.Plan, id string) actions.Check {
	for _, c := range p.Checks {
		if c.ID == id {
			return c
		}
	}
	return actions.Check{}
}

func TestAPlanKnowsAJumboFlagThatWasSetAMomentAgo(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			OnRig(t, Setup{Sim: simcluster.Options{ServerVersion: release}}, func(r *Rig) {
				if c := checkOf(r.moveOf(), "jumbo"); c.Verdict != actions.Pass || c.Source.Code != "cluster" {
					r.Errorf("before the flag: %+v", c)
				}
				r.flag(true)
				if c := checkOf(r.moveOf(), "jumbo"); c.Verdict != actions.Block || c.Text.Code != "jumbo.flagged" {
					r.Errorf("a flagged chunk: %+v", c)
				}
				if p := r.Plan(actions.ClearJumbo, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}}); p.Blocked() {
					r.Errorf("the flag cannot be cleared: %+v", p.Checks)
				}
				r.flag(false)
				if c := checkOf(r.moveOf(), "jumbo"); c.Verdict != actions.Pass {
					r.Errorf("after the flag: %+v", c)
				}
			})
		})
	}
}

func TestAChunkThatIsFlaggedAfterThePlanIsNotMoved(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.moveOf()
		r.flag(true)
		if got := r.refused(p, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm}); !slices.Equal(fields(got), []string{"jumbo"}) {
			r.Errorf("before the request: changed %+v", got)
		}
		r.flag(false)
		p = r.moveOf()
		r.atIntent(func() { r.flag(true) })
		run := r.Ended(r.Start(p).ID)
		if run.State != engine.Refused || !slices.Equal(fields(run.Steps[0].Changed), []string{"jumbo"}) || len(r.Sent(run.ID)) != 0 {
			r.Errorf("before the command: %s %v %+v", run.State, run.Why, run.Steps[0].Changed)
		}
	})
}

// By force a flagged chunk goes there and back, with whatever flag it has.
func TestAFlaggedChunkIsMovedByForceAndUndone(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		r.flag(true)
		run := r.Do(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2", Force: true})
		if run.State != engine.Succeeded {
			r.Fatalf("%s %v %+v", run.State, run.Why, run.Steps)
		}
		time.Sleep(20 * time.Minute)
		undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
		r.Must(err)
		if back := r.Ended(r.Start(undo).ID); back.State != engine.Succeeded {
			r.Errorf("undo: %s %v %+v", back.State, back.Why, back.Steps)
		}
	})
}

// flagless is a cluster whose chunks cannot be listed.
type flagless struct{ actions.Reader }

func (flagless) ChunksFromNow(context.Context, topology.Meta, shardkey.Key, int) ([]topology.Chunk, error) {
	return nil, fault.New(fault.Unavailable, "not now")
}

// What cannot be read is said, and found out before the command.
func TestFlagsThatCannotBeReadAreAWarning(t *testing.T) {
	OnRig(t, Setup{Wrap: func(o *engine.Options) { o.Reader = flagless{o.Reader} }}, func(r *Rig) {
		r.flag(true)
		p := r.moveOf()
		if c := checkOf(p, "jumbo"); c.Verdict != actions.Warn || c.Text.Code != "jumbo.unread" || c.Source.Code != "sweep" {
			r.Errorf("%+v", c)
		}
		run := r.Ended(r.Start(p).ID)
		if run.State != engine.Refused || !slices.Equal(fields(run.Steps[0].Changed), []string{"jumbo"}) || len(r.Sent(run.ID)) != 0 {
			r.Errorf("%s %v %+v", run.State, run.Why, run.Steps[0].Changed)
		}
	})
}
