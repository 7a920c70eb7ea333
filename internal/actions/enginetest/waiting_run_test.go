package enginetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// startWaitingPin starts a pin whose move cannot come back to the shard before its old documents are deleted there, and
// waits until the run waits for that.
func (r *Rig) startWaitingPin(project, shard string) (id string) {
	r.Helper()
	p := r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})
	var move operation.Step
	for _, s := range p.Steps {
		if s.Migrates() && s.NS == documents {
			move = s
		}
	}
	must.That(r, move.NS != "", "the pin moves nothing")
	owner, lo, hi := r.chunkAt(move)
	for i, to := range []string{shard, owner} {
		r.Admin(bson.D{{Key: "moveChunk", Value: documents}, {Key: "bounds", Value: bson.A{lo, hi}}, {Key: "to", Value: to},
			{Key: "_waitForDelete", Value: i == 0}})
	}
	r.Must(r.Watcher.Refresh(r.Context()))
	id = r.Start(r.Plan(actions.Pin, actions.Args{Project: project, Shard: shard})).ID
	r.Wait(id, func(run engine.Run) bool {
		must.That(r, run.State.Open(), "%s %v", run.State, run.Why)
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
			expect.That(r, run.State == engine.Succeeded && time.Since(since) <= time.Minute,
				"%s: %s %v after %s", what, run.State, run.Why, time.Since(since))
		}
		c := r.Watcher.Table().Collection(documents)
		lo := must.Get(c.Key.Document(c.Chunks.At(0).Min))
		hi := must.Get(c.Key.Document(c.Chunks.At(0).Max))
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
			expect.That(r, z.NS != documents, "a zone range is left: %s", z.Zone)
		}
	})
}

// A goal that somebody else's change has made false is reported, not fought.
func TestAPinThatIsUnpinnedWhileItWaitsSaysSo(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		pin := r.startWaitingPin(project, shard)
		since := time.Now()
		unpin := r.PlanAndRun(actions.Unpin, actions.Args{Project: project})
		expect.That(r, unpin.State == engine.Succeeded && time.Since(since) <= time.Minute,
			"the unpin: %s %v after %s", unpin.State, unpin.Why, time.Since(since))
		run := r.WaitEnd(pin)
		if run.State != engine.Refused || run.Why.Code != "step.goalTaken.byRun" || run.Why.Args()["run"] != unpin.ID {
			r.Errorf("the pin: %s %v", run.State, run.Why)
		}
		for _, s := range r.Sent(pin) {
			expect.That(r, !s.At.After(unpin.Ended), "sent after the unpin: %v", s.Body)
		}
	})
}

// What another client takes back is not made again either.
func TestAPinWhoseZoneAnotherClientRemovesSaysSo(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		pin := r.startWaitingPin(project, shard)
		for _, s := range r.runNow(pin).Steps {
			if s.Op == operation.OpSetRange {
				r.Admin(bson.D{{Key: "updateZoneKeyRange", Value: s.NS}, {Key: "min", Value: s.Min}, {Key: "max", Value: s.Max},
					{Key: "zone", Value: nil}})
			}
		}
		if run := r.WaitEnd(pin); run.State != engine.Refused || run.Why.Code != "step.goalTaken" {
			r.Errorf("the pin: %s %v", run.State, run.Why)
		}
	})
}

// A chunk that only has to leave the isolated project's shard goes to another shard when the planned one still has its
// old documents, and the plan has said so.
func TestAnIsolationTakesAnotherShardThanTheOneThatIsBlocked(t *testing.T) {
	for name, block := range map[string]func(r *Rig, lo, hi bson.Raw, shard, planned string){
		"old documents": func(r *Rig, lo, hi bson.Raw, shard, planned string) {
			for i, to := range []string{planned, shard} {
				r.Admin(bson.D{{Key: "moveChunk", Value: documents}, {Key: "bounds", Value: bson.A{lo, hi}}, {Key: "to", Value: to},
					{Key: "_waitForDelete", Value: i == 0}})
			}
		},
		"draining": func(r *Rig, _, _ bson.Raw, _, planned string) {
			r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Do: func(context.Context, *simcluster.Cluster) error {
				r.tryCommand("admin", bson.D{{Key: "removeShard", Value: planned}})
				return nil
			}})
		},
		"a refusal": func(r *Rig, _, _ bson.Raw, _, planned string) {
			r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(20), Times: -1,
				Match: func(cmd bson.Raw) bool { to, _ := cmd.Lookup("to").StringValueOK(); return to == planned }})
		},
	} {
		t.Run(name, func(t *testing.T) { isolateWithABlockedShard(t, block) })
	}
}

func isolateWithABlockedShard(t *testing.T, block func(r *Rig, lo, hi bson.Raw, shard, planned string)) {
	onProjects(t, func(r *Rig, project, shard string) {
		args := actions.Args{Project: project, Shard: shard}
		first := offers(r.Plan(actions.Isolate, args))
		must.That(r, first.NS != "", "the plan moves nothing that may go to several shards")
		for _, s := range r.Plan(actions.Isolate, args).Steps { // a chunk that the plan does not cut
			if s.Migrates() && len(s.Others) > 0 && s.NS == documents {
				first = s
			}
		}
		_, lo, hi := r.chunkAt(first)
		block(r, lo, hi, shard, first.Shard)
		r.Must(r.Watcher.Refresh(r.Context()))
		p := r.Plan(actions.Isolate, args)
		listed := false
		for _, m := range p.Effect.Moves {
			listed = listed || m.To == first.Shard && slices.Equal(m.Or, first.Others)
		}
		for _, to := range first.Recipients() {
			listed = listed && slices.Contains(p.Limits.Shards, to)
		}
		expect.That(r, listed, "the plan does not list the other recipients: %+v", p.Effect.Moves)
		begun := time.Now()
		run := r.WaitEnd(r.Start(p).ID)
		expect.That(r, run.State == engine.Succeeded && time.Since(begun) <= 3*time.Minute,
			"%s %v after %s", run.State, run.Why, time.Since(begun))
		if !slices.ContainsFunc(run.Steps, func(s engine.Step) bool {
			return s.Migrates() && s.Shard == first.Others[0] && s.State == engine.Succeeded
		}) {
			r.Errorf("nothing went to %v", first.Others)
		}
		r.CheckSentOnce(run)
		if r.Sim.Faults().Heal(); r.Watcher.Table().Shard(first.Shard).Draining {
			return // what has to come back there cannot
		}
		time.Sleep(20 * time.Minute)
		if undo := r.WaitLongEnd(r.Start(r.undo(run.ID)).ID); undo.State != engine.Succeeded {
			r.Errorf("the undo: %s %v", undo.State, undo.Why)
		}
	})
}

// offers is the first move of a plan that may go to several shards.
func offers(p actions.Plan) operation.Step {
	for _, s := range p.Steps {
		if s.Migrates() && len(s.Others) > 0 {
			return s
		}
	}
	return operation.Step{}
}

// The moves that do not depend on the blocked one are made first, and the blocked one is not tried again before its
// time: the cluster logs each try as a failed migration.
func TestOtherMovesGoBeforeTheOneThatWaits(t *testing.T) {
	onProjects(t, func(r *Rig, project, shard string) {
		pin := r.startWaitingPin(project, shard)
		blocked := time.Now()
		time.Sleep(2 * time.Minute)
		run, tries := r.runNow(pin), 0
		var wait *engine.Backoff
		for _, s := range run.Steps {
			switch {
			case s.State == engine.Waiting:
				wait = s.Backoff
			case s.State == engine.Deferred:
			case s.State != engine.Succeeded:
				r.Errorf("%s %s waits too: %s", s.Op, s.NS, s.State)
			}
		}
		expect.That(r, wait != nil && !wait.Next.Before(blocked.Add(10*time.Minute)) && !wait.Until.Before(wait.Next),
			"%+v", wait)
		if run = r.WaitEnd(pin); run.State != engine.Succeeded || time.Since(blocked) > 20*time.Minute {
			r.Errorf("%s %v after %s", run.State, run.Why, time.Since(blocked))
		}
		for _, s := range r.Sent(pin) {
			if s.Name == "moveChunk" && s.NS == string(documents) {
				tries++
			}
		}
		expect.That(r, tries <= 3, "%d tries", tries)
		r.CheckSentOnce(run)
	})
}

// A chunk that a person moves away from where the run has put it is not moved back.
func TestASpreadWhoseChunkSomebodyMovesAwaySaysSo(t *testing.T) {
	onProjects(t, func(r *Rig, project, _ string) {
		p := r.Plan(actions.Spread, actions.Args{Project: project})
		var moves []operation.Step
		for _, s := range p.Steps {
			if s.Migrates() {
				moves = append(moves, s)
			}
		}
		must.That(r, len(moves) >= 2, "%d moves", len(moves))
		first, last := moves[0], moves[len(moves)-1]
		rule := r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Err: simcluster.Fail(46), Times: -1,
			Match: func(cmd bson.Raw) bool {
				lo, _ := cmd.Lookup("bounds", "0").DocumentOK()
				return string(lo) == string(last.Min)
			}})
		id := r.Start(p).ID
		r.Wait(id, func(run engine.Run) bool { return run.State == engine.Waiting })
		away := "shard-rs-1"
		if first.Shard == away {
			away = "shard-rs-2"
		}
		r.Admin(bson.D{{Key: "moveChunk", Value: first.NS}, {Key: "bounds", Value: bson.A{first.Min, first.Max}}, {Key: "to", Value: away},
			{Key: "_waitForDelete", Value: true}})
		rule.Remove()
		run := r.WaitEnd(id)
		if run.State != engine.Failed || run.Why.Code != "run.goalTaken" || len(run.Adaptations) != 1 || !run.Adaptations[0].Refused {
			r.Errorf("%s %v %+v", run.State, run.Why, run.Adaptations)
		}
		expect.That(r, run.CanFinish() && run.CanUndo(), "it can neither be finished nor undone")
	})
}

// chunkAt is the chunk in which the range of a step begins: its owner and its bounds.
func (r *Rig) chunkAt(s operation.Step) (owner string, lo, hi bson.Raw) {
	r.Helper()
	c := r.Watcher.Table().Collection(s.NS)
	at := must.Get(c.Key.Bound(s.Min))
	_, ch := c.Chunks.Find(at)
	lo = must.Get(c.Key.Document(ch.Min))
	hi = must.Get(c.Key.Document(ch.Max))
	return ch.Shard, lo, hi
}
