package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// onIntent does something right after an intent was saved, which is before the last
// check of the preconditions.
func (r *Rig) onIntent(do func()) {
	r.Disk.Fail(nil, func(w Write) error {
		if w.What == "intent" {
			do()
		}
		return nil
	})
}

func (r *Rig) planMove() actions.Plan {
	r.Helper()
	return r.Plan(actions.MoveChunk, moveFirstChunk)
}

func TestStepIsRefusedWhenItsPreconditionsCannotBeRead(t *testing.T) {
	onCases(t, 0, func(r *Rig, c Case) {
		p := c.Plan(r)
		r.onIntent(func() {
			r.Sim.Faults().Add(simcluster.Rule{Command: "find", At: simcluster.Received, Err: simcluster.Fail(50), Times: -1})
		})
		run := r.WaitEnd(r.Start(p).ID)
		expect.That(r, run.State == engine.Refused && run.Why.Code == "step.unread" && len(r.Sent(run.ID)) == 0,
			"%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
	})
}

func TestChunkThatMovedAwayAndBackDoesNotMatchThePlan(t *testing.T) {
	for name, change := range map[string]func(*Rig){"chunk": (*Rig).moveAwayAndBack, "collection": (*Rig).recreateCollection} {
		t.Run(name+" before the request", func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.planMove()
				change(r)
				_, _, err := r.RunPlan(Anna, p)
				var differs *engine.ChangedError
				if !errors.As(err, &differs) || len(differs.Differences) == 0 || len(r.Sim.Faults().Seen()) != 0 {
					r.Errorf("%v, %d sent", err, len(r.Sim.Faults().Seen()))
				}
			})
		})
		t.Run(name+" before the command", func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.planMove()
				r.onIntent(func() { change(r) })
				run := r.WaitEnd(r.Start(p).ID)
				if run.State != engine.Refused || len(run.Steps[0].Changed) == 0 || len(r.Sent(run.ID)) != 0 {
					r.Errorf("%s %v, %d sent", run.State, run.Why, len(r.Sent(run.ID)))
				}
			})
		})
	}
}

func checkOf(p actions.Plan, id string) actions.Check {
	for _, c := range p.Checks {
		if c.ID == id {
			return c
		}
	}
	return actions.Check{}
}

func TestPlanSeesAJumboFlagSetAMomentAgo(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			OnRig(t, Setup{Sim: simcluster.Options{ServerVersion: release}}, func(r *Rig) {
				if c := checkOf(r.planMove(), "jumbo"); c.Verdict != actions.Pass || c.Source.Code != "cluster" {
					r.Errorf("before the flag: %+v", c)
				}
				r.setJumboFlag(true)
				if c := checkOf(r.planMove(), "jumbo"); c.Verdict != actions.Block || c.Text.Code != "jumbo.flagged" {
					r.Errorf("a flagged chunk: %+v", c)
				}
				if p := r.Plan(actions.ClearJumbo, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}}); p.Blocked() {
					r.Errorf("the flag cannot be cleared: %+v", p.Checks)
				}
				r.setJumboFlag(false)
				if c := checkOf(r.planMove(), "jumbo"); c.Verdict != actions.Pass {
					r.Errorf("after the flag: %+v", c)
				}
			})
		})
	}
}

func TestChunkFlaggedAfterThePlanIsNotMoved(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		r.setJumboFlag(true)
		if got := r.changesReported(p); !slices.Equal(changedFields(got), []string{"jumbo"}) {
			r.Errorf("before the request: changed %+v", got)
		}
		r.setJumboFlag(false)
		p = r.planMove()
		r.onIntent(func() { r.setJumboFlag(true) })
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Refused || !slices.Equal(changedFields(run.Steps[0].Changed), []string{"jumbo"}) || len(r.Sent(run.ID)) != 0 {
			r.Errorf("before the command: %s %v %+v", run.State, run.Why, run.Steps[0].Changed)
		}
	})
}

// A forced move and its undo do not depend on the jumbo flag.
func TestFlaggedChunkIsMovedByForceAndUndone(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		r.setJumboFlag(true)
		forced := actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2", Force: true}
		run := r.succeeds(r.PlanAndRun(actions.MoveChunk, forced).ID)
		time.Sleep(20 * time.Minute)
		undo := r.undo(run.ID)
		r.succeeds(r.Start(undo).ID)
	})
}

// unreadableChunks is a cluster whose chunks cannot be listed.
type unreadableChunks struct{ operation.Reader }

func (unreadableChunks) ChunksFromNow(context.Context, topology.Meta, shardkey.Key, int) ([]topology.Chunk, error) {
	return nil, fault.New(fault.Unavailable, "not now")
}

// The plan cannot know the flag, but the check before the command finds it.
func TestUnreadableJumboFlagsAreAWarning(t *testing.T) {
	OnRig(t, Setup{Wrap: func(o *engine.Options) { o.Reader = unreadableChunks{o.Reader} }}, func(r *Rig) {
		r.setJumboFlag(true)
		p := r.planMove()
		if c := checkOf(p, "jumbo"); c.Verdict != actions.Warn || c.Text.Code != "jumbo.unread" || c.Source.Code != "sweep" {
			r.Errorf("%+v", c)
		}
		run := r.WaitEnd(r.Start(p).ID)
		if run.State != engine.Refused || !slices.Equal(changedFields(run.Steps[0].Changed), []string{"jumbo"}) || len(r.Sent(run.ID)) != 0 {
			r.Errorf("%s %v %+v", run.State, run.Why, run.Steps[0].Changed)
		}
	})
}

// changesReported runs a plan that must be refused and returns the reported
// differences.
func (r *Rig) changesReported(p actions.Plan) []operation.Difference {
	r.Helper()
	_, _, err := r.RunPlan(Anna, p)
	var differs *engine.ChangedError
	must.That(r, errors.As(err, &differs), "%v, want what changed", err)
	expect.Equal(r, len(r.Sim.Faults().Seen()), 0, "commands were sent")
	return differs.Differences
}

func changedFields(ds []operation.Difference) (out []string) {
	for _, d := range ds {
		out = append(out, d.Field)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The change also makes a check block, but the difference is the more useful answer.
func TestPlanCarriedOutBySomebodyElseReportsWhatChanged(t *testing.T) {
	chunk := [2]bson.Raw{P(0), P(10)}
	for _, c := range []struct {
		kind   actions.Kind
		args   actions.Args
		behind bson.D
		want   []string
	}{
		{actions.MoveChunk, actions.Args{NS: NS, Bounds: chunk, To: "shard-rs-2"},
			bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-2"}},
			[]string{"lastmod", "shard"}},
		{actions.ZoneAddShard, actions.Args{Shard: "shard-rs-2", Zone: "eu"},
			bson.D{{Key: "addShardToZone", Value: "shard-rs-2"}, {Key: "zone", Value: "eu"}}, []string{"member"}},
		{actions.BalancerOn, actions.Args{}, bson.D{{Key: "balancerStart", Value: 1}}, []string{"on"}},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			OnRig(t, Setup{}, func(r *Rig) {
				p := r.Plan(c.kind, c.args)
				r.Admin(c.behind)
				got := r.changesReported(p)
				expect.EqualSlices(r, changedFields(got), c.want, "fields that changed: %+v", got)
			})
		})
	}
}

func TestWrongHashAndExpiryAreReportedAsFields(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		for _, hash := range []string{"", "0000", strings.Repeat("x", 1000)} {
			other := p
			other.Hash = hash
			got := r.changesReported(other)
			if len(got) != 1 || got[0].Field != "hash" || got[0].Want != p.Hash || hash == "0000" && got[0].Got != hash || len(got[0].Got) > 100 {
				r.Errorf("%.10q: %+v", hash, got)
			}
		}
		time.Sleep(engine.Expiry)
		if got := r.changesReported(p); len(got) != 1 || got[0].Field != "expiresAt" ||
			got[0].Want != p.Expires.Format(time.RFC3339) {
			r.Errorf("expired: %+v", got)
		}
	})
}

// shiftPlan saves a plan as if it had been made at another time. To the engine this
// looks like a change of the clock in the opposite direction.
func (r *Rig) shiftPlan(p actions.Plan, id string, by time.Duration) actions.Plan {
	r.Helper()
	p.ID, p.Made, p.Expires = id, p.Made.Add(by), p.Expires.Add(by)
	body := must.Get(json.Marshal(p))
	r.handle.mu.Lock()
	delete(r.handle.plans, id)
	r.handle.mu.Unlock()
	r.Must(r.handle.SavePlan(r.Context(), store.PlanRecord{ID: p.ID, Cluster: p.Cluster, By: p.By.ID, Kind: string(p.Kind), Hash: p.Hash,
		Made: p.Made, Expires: p.Expires, Body: body}))
	return p
}

// refusedAsExpired reports whether a plan is refused because of its age.
func (r *Rig) refusedAsExpired(p actions.Plan) bool {
	r.Helper()
	_, _, err := r.RunPlan(Anna, p)
	var moved *engine.ChangedError
	return errors.As(err, &moved) && len(moved.Differences) == 1 && moved.Differences[0].Field == "expiresAt"
}

func TestPlanDoesNotLiveLongerWhenTheClockIsSetBack(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		split := func() actions.Plan { return r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)}) }
		for _, restart := range []bool{false, true} {
			p := split()
			day, hour := r.shiftPlan(p, "day"+p.ID[3:], 24*time.Hour), r.shiftPlan(p, "hour"+p.ID[4:], time.Hour)
			if restart {
				r.Restart()
			}
			expect.That(t, r.refusedAsExpired(day) && r.refusedAsExpired(hour),
				"restart %v: a plan from a time that has not come is run", restart)
			time.Sleep(time.Hour + time.Minute) // beyond the later of both times
			expect.That(t, restart || r.refusedAsExpired(hour), "a plan that was refused as expired is run later")
		}
		p := split()
		time.Sleep(engine.Expiry + time.Minute)
		r.shiftPlan(p, p.ID, 10*time.Minute) // by the clock it is valid for 9 more minutes
		expect.That(t, r.refusedAsExpired(p), "a plan of this process is run 16 minutes after it was made")
		expect.Equal(t, len(r.Sim.Faults().Seen()), 0, "commands sent")
		r.Wait(r.Start(split()).ID, func(run engine.Run) bool { return run.State == engine.Succeeded })
	})
}

func TestPlanExpiredByAWrongClockStaysExpired(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		r.shiftPlan(p, p.ID, -24*time.Hour) // the clock is a day ahead
		must.That(t, r.refusedAsExpired(p), "a plan that has expired is run")
		r.shiftPlan(p, p.ID, 0) // the clock is right again
		expect.That(t, r.refusedAsExpired(p), "a plan that was refused as expired is run")
	})
}

// While a run waits, somebody divides what it moves: what is left to do would move more chunks than were confirmed.
func TestRunThatWouldMoveMoreThanWasConfirmedEnds(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(46), Times: -1})
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Waiting })
		of := must.Get(bson.ObjectIDFromHex(project))
		for i := range int64(40) {
			r.Admin(bson.D{{Key: "split", Value: "yorkie-meta.clients"}, {Key: "middle", Value: bson.D{
				{Key: "project_id", Value: of}, {Key: "_id", Value: (i - 20) << 57}}}})
		}
		rule.Remove()
		run := r.WaitEnd(id)
		expect.That(r, run.State == engine.Refused && run.Why.Code == "step.beyondLimits", "%s %v", run.State, run.Why)
		r.checkReported(run)
	})
}
