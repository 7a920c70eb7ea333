package enginetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/store"
)

// shiftPlan saves a plan as if it had been made at another time. To the engine this
// looks like a change of the clock in the opposite direction.
func (r *Rig) shiftPlan(p actions.Plan, id string, by time.Duration) actions.Plan {
	r.Helper()
	p.ID, p.Made, p.Expires = id, p.Made.Add(by), p.Expires.Add(by)
	body, err := json.Marshal(p)
	r.Must(err)
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
			if !r.refusedAsExpired(day) || !r.refusedAsExpired(hour) {
				t.Errorf("restart %v: a plan from a time that has not come is run", restart)
			}
			time.Sleep(time.Hour + time.Minute) // beyond the later of both times
			if !restart && !r.refusedAsExpired(hour) {
				t.Error("a plan that was refused as expired is run later")
			}
		}
		p := split()
		time.Sleep(engine.Expiry + time.Minute)
		r.shiftPlan(p, p.ID, 10*time.Minute) // by the clock it is valid for 9 more minutes
		if !r.refusedAsExpired(p) {
			t.Error("a plan of this process is run 16 minutes after it was made")
		}
		if n := len(r.Sim.Faults().Seen()); n != 0 {
			t.Errorf("%d commands sent", n)
		}
		r.Wait(r.Start(split()).ID, func(run engine.Run) bool { return run.State == engine.Succeeded })
	})
}

func TestPlanExpiredByAWrongClockStaysExpired(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		r.shiftPlan(p, p.ID, -24*time.Hour) // the clock is a day ahead
		if !r.refusedAsExpired(p) {
			t.Fatal("a plan that has expired is run")
		}
		r.shiftPlan(p, p.ID, 0) // the clock is right again
		if !r.refusedAsExpired(p) {
			t.Error("a plan that was refused as expired is run")
		}
	})
}
