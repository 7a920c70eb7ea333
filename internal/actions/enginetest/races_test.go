package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// rivalChanges are changes by another client that violate what a plan of this case
// relies on.
func (c Case) rivalChanges() []func(*Rig) {
	admin := func(cmd ...bson.E) func(*Rig) { return func(r *Rig) { r.tryCommand("admin", bson.D(cmd)) } }
	e := func(k string, v any) bson.E { return bson.E{Key: k, Value: v} }
	bounds := func(lo, hi int) bson.A { return bson.A{P(lo), P(hi)} }
	again := func(r *Rig) {
		r.tryCommand("app", bson.D{e("drop", "users")})
		r.users()
	}
	split, move := admin(e("split", NS), e("middle", P(3))), admin(e("moveChunk", NS), e("bounds", bounds(0, 10)), e("to", "shard-rs-3"))
	merge := admin(e("mergeChunks", NS), e("bounds", bounds(0, 20)))
	zone := admin(e("addShardToZone", "shard-rs-1"), e("zone", "us"))
	other := func(r *Rig) { // another zone for the same keys
		zone(r)
		r.tryCommand("admin", bson.D{e("updateZoneKeyRange", NS), e("min", P(5)), e("max", P(7)), e("zone", "us")})
	}
	switch c.Name {
	case "split at a key", "move a part":
		return []func(*Rig){split, move, merge, again}
	case "split in the middle":
		return []func(*Rig){
			merge, again, admin(e("split", NS), e("middle", P(12))), admin(e("moveChunk", NS), e("bounds", bounds(10, 20)), e("to", "shard-rs-3")),
		}
	case "merge":
		return []func(*Rig){split, move, again}
	case "move", "move a range":
		return []func(*Rig){split, move, merge, again, other, admin(e("removeShard", "shard-rs-2"))}
	case "clear jumbo":
		return []func(*Rig){split, again, admin(e("clearJumboFlag", NS), e("bounds", bounds(0, 10)))}
	case "zone, add shard":
		return []func(*Rig){admin(e("addShardToZone", "shard-rs-2"), e("zone", "eu"))}
	case "zone, remove shard":
		return []func(*Rig){admin(e("removeShardFromZone", "shard-rs-2"), e("zone", "eu"))}
	case "zone, set range":
		return []func(*Rig){other, again, admin(e("removeShardFromZone", "shard-rs-1"), e("zone", "eu"))}
	case "zone, remove range":
		return []func(*Rig){admin(e("updateZoneKeyRange", NS), e("min", P(0)), e("max", P(10)), e("zone", nil)), again}
	case "move primary":
		return []func(*Rig){admin(e("movePrimary", NS.Database()), e("to", "shard-rs-3"))}
	case "move a collection":
		return []func(*Rig){
			func(r *Rig) { r.tryCommand("app", bson.D{e("drop", "plain")}) }, admin(e("moveCollection", "app.plain"), e("toShard", "shard-rs-3")),
		}
	case "drain", "drain, by its command", "drain the config server":
		return []func(*Rig){func(r *Rig) { // a zone that no other shard is in
			r.tryCommand("admin", bson.D{e("addShardToZone", c.Args.Shard), e("zone", "solo")})
			r.tryCommand("admin", bson.D{e("updateZoneKeyRange", NS), e("min", P(15)), e("max", P(16)), e("zone", "solo")})
		}}
	case "stop draining", "remove a shard":
		return []func(*Rig){admin(e("stopShardDraining", "shard-rs-3"))}
	case "balancer on":
		return []func(*Rig){admin(e("balancerStart", 1))}
	case "balancer off":
		return []func(*Rig){admin(e("balancerStop", 1))}
	case "balancer window":
		return []func(*Rig){func(r *Rig) {
			r.tryCommand("config", bson.D{e("update", "settings"), e("updates", bson.A{bson.D{
				e(
					"q",
					bson.D{e("_id", "balancer")},
				), e("u", bson.D{e("$set", bson.D{e("activeWindow", bson.D{e("start", "02:00"), e("stop", "03:00")})})}), e("upsert", true),
			}})})
		}}
	}
	return []func(*Rig){again}
}

// inChangelog reports whether the cluster logs what a case does, so that a race can
// be found in the log.
func (c Case) inChangelog() bool {
	return slices.Contains([]string{"split", "mergeChunks", "moveChunk", "moveRange"}, c.Command)
}

// Another client changes what a plan relies on, at any moment around the request to
// run it.
func TestStalePlansAreNotAppliedAndRacesAreFlagged(t *testing.T) {
	// No command of others is known that ends the draining of a config server.
	cases := slices.DeleteFunc(Cases(), func(c Case) bool { return c.Name == "make the config server dedicated" })
	from, to := seeds(t, sampleSize(10, 200, 1000))
	for seed := from; seed < to; seed++ {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := cases[rng.IntN(len(cases))]
		rivals := c.rivalChanges()
		rival := rng.IntN(len(rivals))
		t.Run(fmt.Sprintf("ACTIONS_SEED=%d %s %d", seed, c.Name, rival), func(t *testing.T) {
			setup := c.Setup()
			setup.Seed = seed
			OnCheckedRig(t, setup, func(r *Rig, w *RecordChecker) { r.runRace(c, rivals[rival], rival < 4, rng, w) })
		})
	}
}

// In runRace, inLog says whether the rival
// changes chunks, which config.changelog has, or zones and shards, which it does not
// have.
func (r *Rig) runRace(c Case, rival func(*Rig), inLog bool, rng *rand.Rand, w *RecordChecker) {
	r.Helper()
	plan := c.Plan(r)
	trip := time.Duration(1+rng.IntN(20)) * time.Millisecond
	r.Sim.Faults().Add(simcluster.Rule{At: simcluster.Received, Delay: trip, Times: -1})
	before := time.Duration(rng.Int64N(int64(4 * trip)))
	after := time.Duration(rng.Int64N(int64(30 * trip)))
	early := rng.IntN(4) == 0
	if !early {
		before = 0
	}
	var changed time.Time
	var begun, over atomic.Int64
	w.OtherClient = func(since time.Time) bool {
		return begun.Load() != 0 && (over.Load() == 0 || over.Load() >= since.Add(-3*trip).UnixNano())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if !early {
			time.Sleep(after)
		}
		begun.Store(time.Now().UnixNano())
		rival(r)
		changed = time.Now()
		over.Store(changed.UnixNano())
	}()
	if early {
		<-done
		time.Sleep(before)
	}
	asked := time.Now()
	run, _, err := r.RunPlan(Anna, plan)
	var differs *engine.ChangedError
	var blocked *engine.BlockedError
	switch {
	case errors.As(err, &differs):
		expect.That(r, len(differs.Differences) != 0 || errors.As(err, &blocked) || differs.Err != nil,
			"refused without a word")
	case err != nil && !errors.As(err, &blocked) && fault.Of(err) != fault.Unavailable:
		r.Errorf("refused for %v", err)
	}
	if err == nil {
		run = r.WaitEnd(run.ID)
	}
	<-done
	r.Sim.Faults().Heal()
	sent := r.seenCommands(c)
	if err != nil || len(sent) == 0 {
		expect.That(r, len(sent) == 0, "refused, and sent all the same")
		expect.That(r, run.State != engine.Succeeded || run.Steps[0].Already != "",
			"nothing was sent, and it is called succeeded")
		return
	}
	r.CheckSentOnce(run)
	s := run.Steps[len(run.Steps)-1]
	left := sent[len(sent)-1].At
	switch {
	case !changed.After(asked.Add(-trip)):
		r.Errorf("sent %s after the request, and the change was %s before it", left.Sub(asked), asked.Sub(changed))
	case len(s.Before) > 0 && changed.Before(s.Before[0].At.Add(-3*trip)) && len(run.Steps) == 1:
		r.Errorf("sent, and the change was %s before the first precondition was read", s.Before[0].At.Sub(changed))
	case changed.After(s.Ended), run.State != engine.Succeeded, s.Why.Code != "" || s.Resolved, changed.After(left.Add(trip)):
		// It came too late to matter, or the run reports it.
	case c.inChangelog() && inLog: // between reading and command
		r.Errorf("the change, %s before the command came, is not flagged", left.Sub(changed))
	}
}

// seenCommands returns the commands of the engine that a case is about.
func (r *Rig) seenCommands(c Case) []simcluster.Seen {
	return slices.DeleteFunc(r.Sim.Faults().Seen(c.Command), func(s simcluster.Seen) bool { return s.Comment.Type == 0 })
}

// Admin runs a command of another operator, past the engine and the network.
func (r *Rig) Admin(cmd bson.D) {
	r.Helper()
	r.Must(must.Err(r.Sim.Command(context.Background(), "admin", cmd)))
}

// tryCommand runs a command of another client and ignores the result.
func (r *Rig) tryCommand(db string, cmd bson.D) { _, _ = r.Sim.Command(context.Background(), db, cmd) }

// moveByOther moves [lo, hi) of NS as another operator and leaves orphaned
// documents.
func (r *Rig) moveByOther(lo, hi int, to string) {
	r.Helper()
	r.Admin(bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(lo), P(hi)}}, {Key: "to", Value: to}})
}

// moveByOtherCleanly is moveByOther without orphaned documents.
func (r *Rig) moveByOtherCleanly(lo, hi int, to string) {
	r.Helper()
	r.Admin(bson.D{{Key: "moveChunk", Value: NS}, {Key: "bounds", Value: bson.A{P(lo), P(hi)}}, {Key: "to", Value: to},
		{Key: "_waitForDelete", Value: true}})
}

// moveByOtherOverNetwork is moveByOther over a connection of its own, where faults
// apply.
func (r *Rig) moveByOtherOverNetwork(lo, hi int, to string) {
	r.Helper()
	uri := must.Get(cluster.ParseURI(simcluster.URI()))
	c := must.Get(cluster.Connect(context.Background(), uri, cluster.Options{Dialer: r.Sim}))
	defer func() { _ = c.Close(context.Background()) }()
	r.Must(change.Send(context.Background(), c, "", operation.Step{Op: operation.OpMove, NS: NS, Min: P(lo), Max: P(hi), Shard: to}))
}

func (r *Rig) moveAwayAndBack() {
	for _, to := range []string{"shard-rs-3", "shard-rs-1"} {
		r.moveByOtherCleanly(0, 10, to)
	}
}

func (r *Rig) recreateCollection() {
	r.tryCommand("app", bson.D{{Key: "drop", Value: "users"}})
	r.users()
}

// setJumboFlag sets or removes the jumbo flag of the chunk [0, 10) as the balancer
// does: without a new version.
func (r *Rig) setJumboFlag(on bool) {
	r.Helper()
	change := bson.D{{Key: "$set", Value: bson.D{{Key: "jumbo", Value: true}}}}
	if !on {
		change = bson.D{{Key: "$unset", Value: bson.D{{Key: "jumbo", Value: ""}}}}
	}
	_, err := r.Sim.Command(r.Context(), "config", bson.D{{Key: "update", Value: "chunks"}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: "min", Value: P(0)}}}, {Key: "u", Value: change}}}}})
	r.Must(err)
}

// Many people change the same collections at once. Every run ends, each command is sent once, and a pin that succeeded
// holds.
func TestRunsBesideEachOtherEndAndSendOnce(t *testing.T) {
	from, to := seeds(t, sampleSize(3, 15, 200))
	for seed := from; seed < to; seed++ {
		s := Setup{Sim: simcluster.Options{Projects: 8, Documents: 160, Seed: int64(seed), Still: seed%2 == 0}, Seed: seed}
		OnRig(t, s, func(r *Rig) {
			all := r.Keeper.Directory().All()
			var plans []actions.Plan
			shards := []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}
			for i, p := range all {
				kind := []actions.Kind{actions.Pin, actions.Spread, actions.Pin}[i%3]
				args := actions.Args{Project: p.ID.Hex()}
				if kind == actions.Pin {
					args.Shard = shards[int(seed+uint64(i))%3]
				}
				plan, err := r.Engine.Plan(r.Context(), Anna, engine.Request{Kind: kind, Args: args, Reason: "a test"})
				if err == nil && !plan.Blocked() {
					plans = append(plans, plan)
				}
			}
			on := seed%2 == 1
			plans = append(plans, r.Plan(actions.BalanceCollection, actions.Args{NS: documents, On: &on}))
			var ids []string
			for _, p := range plans {
				run, _, err := r.RunPlan(Anna, p)
				if err != nil {
					continue // an earlier run has changed what it needs
				}
				ids = append(ids, run.ID)
				time.Sleep(200 * time.Millisecond)
			}
			must.That(r, len(ids) >= 4, "only %d of %d runs", len(ids), len(plans))
			for _, id := range ids {
				run := r.WaitLongEnd(id)
				r.CheckSentOnce(run)
				expect.That(r, run.State == engine.Succeeded, "seed %d: %s %s: %v", seed, run.Kind, run.State, run.Why)
			}
		})
	}
}
