package enginetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

func TestPlanNeedsAReasonARoleAndAKind(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		args := actions.Args{NS: NS, At: P(5)}
		viewer := auth.Principal{ID: "user:eve", Role: auth.Support}
		for name, c := range map[string]struct {
			by   auth.Principal
			r    engine.Request
			want fault.Kind
		}{
			"no reason":   {Anna, engine.Request{Kind: actions.Split, Args: args, Reason: " "}, fault.Invalid},
			"long reason": {Anna, engine.Request{Kind: actions.Split, Args: args, Reason: strings.Repeat("x", 501)}, fault.Invalid},
			"no kind":     {Anna, engine.Request{Kind: "reformat", Args: args, Reason: "x"}, fault.Invalid},
			"no role":     {viewer, engine.Request{Kind: actions.Split, Args: args, Reason: "x"}, fault.Forbidden},
			"nobody":      {auth.Principal{}, engine.Request{Kind: actions.Split, Args: args, Reason: "x"}, fault.Forbidden},
			"no such":     {Anna, engine.Request{Kind: actions.Split, Args: actions.Args{NS: "no.such", At: P(5)}, Reason: "x"}, fault.NotFound},
			"wrong type": {Anna, engine.Request{Kind: actions.Split, Args: actions.Args{NS: NS, At: bson.Raw{5, 0, 0, 0, 0}}, Reason: "x"},
				fault.Invalid},
		} {
			refused.As(r, must.Err(r.Engine.Plan(r.Context(), c.by, c.r)), c.want, "%s", name)
		}
		expect.Equal(r, len(r.Disk.Recorded("plan.refused")), 7, "refusals recorded")
		expect.Equal(r, len(r.Sim.Faults().Seen()), 0, "commands sent")
	})
}

func TestPlanIsStoredExactlyAsItWasMade(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		q := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		if len(p.ID) != 26 || p.ID != strings.ToLower(p.ID) || p.ID == q.ID || len(p.Hash) != 64 || p.Hash != q.Hash {
			r.Errorf("%s %s %s %s", p.ID, q.ID, p.Hash, q.Hash)
		}
		if got := p.Expires.Sub(p.Made); got != 15*time.Minute {
			r.Error(got)
		}
		other := r.Plan(actions.Split, actions.Args{NS: NS, At: P(6)})
		expect.That(r, other.Hash != p.Hash, "another key, the same hash")
		kept, err := r.Engine.PlanByID(r.Context(), p.ID)
		r.Must(err)
		if kept.Hash != p.Hash || !kept.Commands[0].Equal(p.Commands[0]) || kept.By.ID != Anna.ID ||
			len(kept.Steps[0].Needs) != len(p.Steps[0].Needs) ||
			string(kept.Steps[0].At) != string(p.Steps[0].At) ||
			len(kept.Checks) != len(p.Checks) {
			r.Errorf("kept %+v\nmade %+v", kept, p)
		}
	})
}

func TestPlanRunsOnlyForItsMakerAndAsShown(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		must.That(r, p.Confirm != "", "bytes are not known, and nothing is to be typed")
		try := func(by auth.Principal, hash, confirm string, want fault.Kind) {
			r.Helper()
			if _, _, err := r.Engine.Run(r.Context(), by, p.ID, engine.RunRequest{Hash: hash, Confirm: confirm}); fault.Of(err) != want {
				r.Errorf("%v, want %v", err, want)
			}
		}
		try(Bert, p.Hash, p.Confirm, fault.Conflict)
		try(Anna, "00", p.Confirm, fault.Conflict)
		try(Anna, p.Hash, "", fault.Invalid)
		try(Anna, p.Hash, p.Confirm+" ", fault.Invalid)
		try(auth.Principal{ID: Anna.ID, Role: auth.Viewer}, p.Hash, p.Confirm, fault.Forbidden)
		if _, _, err := r.Engine.Run(r.Context(), Anna, "nosuchplan", engine.RunRequest{}); fault.Of(err) != fault.NotFound {
			r.Error(err)
		}
		time.Sleep(15 * time.Minute)
		try(Anna, p.Hash, p.Confirm, fault.Conflict)
		expect.Equal(r, len(r.Disk.Recorded("run.refused")), 7, "refusals recorded")
		expect.Equal(r, len(r.Sim.Faults().Seen()), 0, "commands sent")
		p = r.Plan(actions.MoveChunk, p.Args)
		r.checkReported(r.WaitEnd(r.Start(p).ID))
		try(Bert, p.Hash, p.Confirm, fault.Conflict)
	})
}

// A check is neither a command nor a precondition, so the hash of the plan stays the
// same.
func TestRunIsRefusedWhenACheckBlocksSinceThePlan(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		r.Admin(bson.D{{Key: "setAllowMigrations", Value: NS}, {Key: "allowMigrations", Value: false}})
		_, _, err := r.RunPlan(Anna, p)
		var blocked *engine.BlockedError
		expect.That(r, errors.As(err, &blocked) && len(blocked.Checks) != 0 && len(r.Sim.Faults().Seen()) == 0,
			"%v, %d sent", err, len(r.Sim.Faults().Seen()))
	})
}

func TestNoPlanIsMadeWhileTheClusterCannotBeRead(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.planMove()
		r.Network.Cut()
		ask := engine.Request{Kind: actions.BalancerOn, Reason: "a test"}
		for _, limit := range []time.Duration{11 * time.Second, 3 * time.Second} {
			begun := time.Now()
			_, err := r.Engine.Plan(r.Context(), Anna, ask)
			if took := time.Since(begun); fault.Of(err) != fault.Unavailable || took > limit {
				r.Errorf("%v after %s, want that it is unavailable within %s", err, took, limit)
			}
			// The regular poll fails too, which shortens the next attempt.
			_ = r.Watcher.Refresh(r.Context())
		}
		r.refuses(Anna, p, fault.Unavailable, "")
		r.Network.Restore()
		expect.NoError(r, must.Err(r.Engine.Plan(r.Context(), Anna, ask)), "after the network was restored")
	})
}

// maintenanceWindow is a setup with a maintenance window. The time in a rig is 01:00
// UTC.
func maintenanceWindow(t *testing.T, texts ...string) Setup {
	var all []actions.Maintenance
	for _, text := range texts {
		m, err := actions.ParseMaintenance(text)
		must.Do(t, err)
		all = append(all, m)
	}
	return Setup{Wrap: func(o *engine.Options) { o.Maintenance = all }}
}

func TestPlanMadeInsideAWindowIsRefusedOutsideIt(t *testing.T) {
	OnRig(t, maintenanceWindow(t, "00:00-01:10"), func(r *Rig) {
		args := actions.Args{Shard: "shard-rs-2", Zone: "eu"}
		inside := r.Plan(actions.ZoneAddShard, args)
		must.That(r, inside.Confirm == "" && !actions.OutsideMaintenance(inside.Checks),
			"%q %+v", inside.Confirm, inside.Checks)
		time.Sleep(11 * time.Minute)
		_, _, err := r.Engine.Run(r.Context(), Anna, inside.ID, engine.RunRequest{Hash: inside.Hash})
		var changed *engine.ChangedError
		if !errors.As(err, &changed) || len(changed.Differences) != 1 || changed.Differences[0].Want != "open" ||
			changed.Differences[0].Got != "closed" {
			r.Fatalf("%v", err)
		}
		outside := r.Plan(actions.ZoneAddShard, args)
		expect.That(r, outside.Confirm != "" && !outside.Blocked() && outside.Hash == inside.Hash,
			"%q %+v", outside.Confirm, outside.Checks)
		if _, _, err := r.Engine.Run(r.Context(), Anna, outside.ID, engine.RunRequest{Hash: outside.Hash}); fault.Of(err) != fault.Invalid {
			r.Errorf("without the confirmation: %v", err)
		}
		expect.Equal(r, len(r.Sim.Faults().Seen()), 0, "commands sent")
		r.succeeds(r.Start(outside).ID)
	})
}
