package enginetest

import (
	"errors"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
)

// maintenanceWindow is a setup with a maintenance window. The time in a rig is 01:00
// UTC.
func maintenanceWindow(t *testing.T, text string) Setup {
	m, err := actions.ParseMaintenance(text)
	if err != nil {
		t.Fatal(err)
	}
	return Setup{Wrap: func(o *engine.Options) { o.Maintenance = []actions.Maintenance{m} }}
}

func TestPlanMadeInsideAWindowIsRefusedOutsideIt(t *testing.T) {
	OnRig(t, maintenanceWindow(t, "00:00-01:10"), func(r *Rig) {
		args := actions.Args{Shard: "shard-rs-2", Zone: "eu"}
		inside := r.Plan(actions.ZoneAddShard, args)
		if inside.Confirm != "" || actions.OutsideMaintenance(inside.Checks) {
			r.Fatalf("%q %+v", inside.Confirm, inside.Checks)
		}
		time.Sleep(11 * time.Minute)
		_, _, err := r.Engine.Run(r.Context(), Anna, inside.ID, engine.RunRequest{Hash: inside.Hash})
		var changed *engine.ChangedError
		if !errors.As(err, &changed) || len(changed.Differences) != 1 || changed.Differences[0].Want != "open" ||
			changed.Differences[0].Got != "closed" {
			r.Fatalf("%v", err)
		}
		outside := r.Plan(actions.ZoneAddShard, args)
		if outside.Confirm == "" || outside.Blocked() || outside.Hash != inside.Hash {
			r.Errorf("%q %+v", outside.Confirm, outside.Checks)
		}
		if _, _, err := r.Engine.Run(r.Context(), Anna, outside.ID, engine.RunRequest{Hash: outside.Hash}); fault.Of(err) != fault.Invalid {
			r.Errorf("without the confirmation: %v", err)
		}
		if n := len(r.Sim.Faults().Seen()); n != 0 {
			r.Errorf("%d commands sent", n)
		}
		if run := r.WaitEnd(r.Start(outside).ID); run.State != engine.Succeeded {
			r.Errorf("%s", run.State)
		}
	})
}

func TestPlanMadeInsideAWindowRunsInsideIt(t *testing.T) {
	OnRig(t, maintenanceWindow(t, "00:00-03:00"), func(r *Rig) {
		p := r.planMove()
		if run := r.WaitEnd(r.Start(p).ID); run.State != engine.Succeeded {
			r.Errorf("%s", run.State)
		}
	})
}
