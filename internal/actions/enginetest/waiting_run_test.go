package enginetest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
)

// startWaitingPin starts a pin whose move cannot come back to the shard before its old documents are deleted there, and
// waits until the run waits for that.
func (r *Rig) startWaitingPin(project, shard string) (id string) {
	r.Helper()
	p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
	var move actions.Step
	for _, s := range p.Steps {
		if s.Migrates() && s.NS == documents {
			move = s
		}
	}
	if move.NS == "" {
		r.Fatal("the pin moves nothing")
	}
	c := r.Watcher.Table().Collection(documents)
	at, err := c.Key.Bound(move.Min)
	r.Must(err)
	_, ch := c.Chunks.Find(at)
	lo, err := c.Key.Document(ch.Min)
	r.Must(err)
	hi, err := c.Key.Document(ch.Max)
	r.Must(err)
	for i, to := range []string{shard, ch.Shard} {
		r.Admin(bson.D{{Key: "moveChunk", Value: documents}, {Key: "bounds", Value: bson.A{lo, hi}}, {Key: "to", Value: to},
			{Key: "_waitForDelete", Value: i == 0}})
	}
	r.Must(r.Watcher.Refresh(r.Context()))
	id = r.Start(r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})).ID
	r.Wait(id, func(run engine.Run) bool {
		if !run.State.Open() {
			r.Fatalf("%s %v", run.State, run.Why)
		}
		return run.State == engine.Waiting && run.Why.Code == "run.obstacle"
	})
	return id
}

// An on-call person can split another chunk, switch balancing and undo the pin while the pin waits a quarter of an hour
// for old documents to be deleted.
func TestNobodyWaitsForARunThatOnlyWaits(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		pin := r.startWaitingPin(project, shard)
		since := time.Now()
		quick := func(what string, run engine.Run) {
			if run.State != engine.Succeeded || time.Since(since) > time.Minute {
				r.Errorf("%s: %s %v after %s", what, run.State, run.Why, time.Since(since))
			}
		}
		c := r.Watcher.Table().Collection(documents)
		lo, err := c.Key.Document(c.Chunks.At(0).Min)
		r.Must(err)
		hi, err := c.Key.Document(c.Chunks.At(0).Max)
		r.Must(err)
		p := r.Plan(actions.Split, actions.Args{NS: documents, Bounds: [2]bson.Raw{lo, hi}})
		quick("a split elsewhere", r.WaitEnd(r.Start(p).ID))
		quick("its balancing", r.PlanAndRun(actions.BalanceCollection, actions.Args{NS: documents, On: new(bool)}))
		if run := r.runNow(pin); run.State != engine.Waiting || !run.CanUndo() {
			r.Fatalf("the pin is %s, can be undone: %v", run.State, run.CanUndo())
		}
		undo := r.undo(pin)
		quick("its undo", r.WaitEnd(r.Start(undo).ID))
		if run := r.runNow(pin); run.State != engine.Undone || run.StopBy != Anna.ID {
			r.Errorf("the pin is %s, stopped by %q", run.State, run.StopBy)
		}
		for _, z := range r.Watcher.Table().Zones {
			if z.NS == documents {
				r.Errorf("a zone range is left: %s", z.Zone)
			}
		}
	})
}

// A goal that somebody else's change has made false is reported, not fought.
func TestAPinThatIsUnpinnedWhileItWaitsSaysSo(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		pin := r.startWaitingPin(project, shard)
		since := time.Now()
		unpin := r.PlanAndRun(actions.Unpin, actions.Args{Project: project})
		if unpin.State != engine.Succeeded || time.Since(since) > time.Minute {
			r.Errorf("the unpin: %s %v after %s", unpin.State, unpin.Why, time.Since(since))
		}
		run := r.WaitEnd(pin)
		if run.State != engine.Refused || run.Why.Code != "step.goalTaken.byRun" || run.Why.Args()["run"] != unpin.ID {
			r.Errorf("the pin: %s %v", run.State, run.Why)
		}
		for _, s := range r.Sent(pin) {
			if s.At.After(unpin.Ended) {
				r.Errorf("sent after the unpin: %v", s.Body)
			}
		}
	})
}

// What another client takes back is not made again either.
func TestAPinWhoseZoneAnotherClientRemovesSaysSo(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		pin := r.startWaitingPin(project, shard)
		for _, s := range r.runNow(pin).Steps {
			if s.Op == actions.OpSetRange {
				r.Admin(bson.D{{Key: "updateZoneKeyRange", Value: s.NS}, {Key: "min", Value: s.Min}, {Key: "max", Value: s.Max}, {Key: "zone", Value: nil}})
			}
		}
		if run := r.WaitEnd(pin); run.State != engine.Refused || run.Why.Code != "step.goalTaken" {
			r.Errorf("the pin: %s %v", run.State, run.Why)
		}
	})
}
