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
	"shardboard/internal/simcluster"
)

func TestAPlanNeedsAReasonARoleAndAKind(t *testing.T) {
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
			if _, err := r.Engine.Plan(r.Context(), c.by, c.r); fault.Of(err) != c.want {
				r.Errorf("%s: %v", name, err)
			}
		}
		if n := len(r.Disk.Recorded("plan.refused")); n != 7 {
			r.Errorf("%d refusals recorded", n)
		}
		if n := len(r.Sim.Faults().Seen()); n != 0 {
			r.Errorf("%d commands sent", n)
		}
	})
}

func TestAPlanIsOneStringOfBits(t *testing.T) {
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
		if other.Hash == p.Hash {
			r.Error("another key, the same hash")
		}
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

func TestAPlanRunsOnlyForItsMakerAndAsItWasShown(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2"})
		if p.Confirm == "" {
			r.Fatal("bytes are not known, and nothing is to be typed")
		}
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
		if n := len(r.Disk.Recorded("run.refused")); n != 7 {
			r.Errorf("%d refusals recorded", n)
		}
		if n := len(r.Sim.Faults().Seen()); n != 0 {
			r.Errorf("%d commands sent", n)
		}
		p = r.Plan(actions.MoveChunk, p.Args)
		r.honest(r.Ended(r.Start(p).ID))
		try(Bert, p.Hash, p.Confirm, fault.Conflict)
	})
}

func TestAClusterThatChangedSinceThePlanIsToldFieldByField(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2"})
		r.Admin(bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(0), P(10)}}, {Key: "to", Value: "shard-rs-3"}})
		_, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
		var changed *engine.ChangedError
		if !errors.As(err, &changed) {
			r.Fatalf("%v", err)
		}
		fields := map[string]string{}
		for _, d := range changed.Differences {
			fields[d.Field] = d.Want + " → " + d.Got
		}
		if fields["shard"] != "shard-rs-1 → shard-rs-3" || fields["lastmod"] == "" {
			r.Errorf("%v", fields)
		}
		if n := len(r.Sim.Faults().Seen()); n != 0 {
			r.Errorf("%d commands sent", n)
		}
	})
}

// The change comes after the plan was compared, and a round trip before the
// command would leave.
func TestAPreconditionThatChangedJustBeforeIsNotActedOn(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-2"})
		r.Disk.Fail(nil, func(w Write) error {
			if w.What == "intent" {
				r.Admin(bson.D{{Key: "split", Value: NS}, {Key: "middle", Value: P(3)}})
			}
			return nil
		})
		run := r.Ended(r.Start(p).ID)
		if run.State != engine.Refused || len(run.Steps[0].Changed) == 0 || run.Steps[0].Changed[0].Field != "exists" {
			r.Errorf("%s %+v", run.State, run.Steps[0].Changed)
		}
		if n := len(r.Sent(run.ID)); n != 0 {
			r.Errorf("%d commands sent", n)
		}
	})
}

func TestABlockedPlanIsShownAndNotRun(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		p := r.Plan(actions.MoveChunk, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(10)}, To: "shard-rs-1"})
		_, _, err := r.Engine.Run(r.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
		var blocked *engine.BlockedError
		if !errors.As(err, &blocked) || len(blocked.Checks) == 0 {
			r.Errorf("%v", err)
		}
	})
}

func TestASecondRunOfACollectionWaitsAndIsCheckedAfresh(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		first := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		second := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		other := r.Plan(actions.BalancerOn, actions.Args{})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "split", At: simcluster.Committing, Hold: true})
		a := r.Start(first).ID
		<-rule.Reached()
		b := r.Start(second).ID
		waiting := r.Wait(b, func(run engine.Run) bool { return run.State == engine.Waiting })
		if waiting.Why.Args()["run"] != a || waiting.Why.Args()["for"] != "collection "+string(NS) {
			r.Errorf("%v", waiting.Why)
		}
		if run := r.Ended(r.Start(other).ID); run.State != engine.Succeeded {
			r.Errorf("what needs another thing waits too: %s", run.State)
		}
		rule.Remove()
		r.honest(r.Ended(a))
		if run := r.Ended(b); run.State != engine.Succeeded || run.Steps[0].Already == "" || len(r.Sent(b)) != 0 {
			r.Errorf("%s, %d sent", run.State, len(r.Sent(b)))
		}
	})
}

func TestAWaitingRunCanBeStopped(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		first, second := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)}), r.Plan(actions.Split, actions.Args{NS: NS, At: P(15)})
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "split", At: simcluster.Committing, Hold: true})
		a := r.Start(first).ID
		<-rule.Reached()
		b := r.Start(second).ID
		r.Wait(b, func(run engine.Run) bool { return run.State == engine.Waiting })
		_, err := r.Engine.Stop(r.Context(), Bert, b)
		r.Must(err)
		if run := r.Ended(b); run.State != engine.Stopped {
			r.Errorf("%s", run.State)
		}
		rule.Remove()
		r.honest(r.Ended(a))
		runs, next, err := r.Engine.Runs(r.Context(), "", 1)
		r.Must(err)
		if len(runs) != 1 || runs[0].ID != b || next == "" {
			r.Fatalf("%v %q", runs, next)
		}
		if runs, next, err = r.Engine.Runs(r.Context(), next, 5); err != nil || len(runs) != 1 || runs[0].ID != a || next != "" {
			r.Errorf("%v %v %q", err, runs, next)
		}
	})
}
