package enginetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

func TestShardTakesPartInOneOfOurMigrationsAtATime(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		const other = "app.posts"
		r.Admin(bson.D{{Key: "shardCollection", Value: other}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
		r.Admin(bson.D{{Key: "split", Value: other}, {Key: "middle", Value: bson.D{{Key: "p", Value: 0}}}})
		r.Restart()
		first := r.planMove()
		lowest := must.Get(bson.Marshal(bson.D{{Key: "p", Value: bson.MinKey{}}}))
		second := r.Plan(actions.MoveChunk, actions.Args{NS: other, Bounds: [2]bson.Raw{lowest, P(0)}, To: "shard-rs-3"})
		a, rule := r.startAndHold(first, simcluster.Rule{Command: "moveChunk", At: simcluster.Cloned})
		b := r.Start(second).ID
		waiting := r.Wait(b, func(run engine.Run) bool { return run.State == engine.Waiting || !run.State.Open() })
		if waiting.Why.Args()["for"] != "shard shard-rs-1" || waiting.Why.Args()["run"] != a || len(r.Sent(b)) != 0 {
			r.Errorf("%s %v, %d sent", waiting.State, waiting.Why, len(r.Sent(b)))
		}
		time.Sleep(time.Minute)
		rule.Remove()
		for _, id := range []string{a, b} {
			r.succeeds(id)
		}
	})
}

func TestSecondRunOnACollectionWaitsAndIsCheckedAgain(t *testing.T) {
	OnRig(t, Setup{}, func(r *Rig) {
		first := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		second := r.Plan(actions.Split, actions.Args{NS: NS, At: P(5)})
		other := r.Plan(actions.BalancerOn, actions.Args{})
		a, rule := r.startAndHold(first, simcluster.Rule{Command: "split", At: simcluster.Committing})
		b := r.Start(second).ID
		waiting := r.Wait(b, func(run engine.Run) bool { return run.State == engine.Waiting })
		expect.That(r, waiting.Why.Args()["run"] == a && waiting.Why.Args()["for"] == "range of "+string(NS),
			"%v", waiting.Why)
		r.succeeds(r.Start(other).ID)
		rule.Remove()
		r.checkReported(r.WaitEnd(a))
		if run := r.WaitEnd(b); run.State != engine.Succeeded || run.Steps[0].Already == "" || len(r.Sent(b)) != 0 {
			r.Errorf("%s, %d sent", run.State, len(r.Sent(b)))
		}
		if intents, err := r.handle.Intents(r.Context(), b); err != nil || len(intents) != 0 {
			r.Errorf("%d intents for what somebody else had done: %v", len(intents), err)
		}
	})
}

// Many clients ask at the same time to run one plan. Its maker gets one run,
// everybody else a refusal, and the cluster receives one command.
func TestAStormOfRequestsSendsOneCommand(t *testing.T) {
	cases := Cases()
	from, to := seeds(t, sampleSize(4, 50, 1000))
	most := 0
	for seed := from; seed < to; seed++ {
		rng := rand.New(rand.NewPCG(seed, 2))
		c, n := cases[rng.IntN(len(cases))], 2+rng.IntN(49)
		most = max(most, n)
		t.Run(fmt.Sprintf("ACTIONS_SEED=%d %s × %d", seed, c.Name, n), func(t *testing.T) {
			setup := c.Setup()
			setup.Seed = seed
			OnCheckedRig(t, setup, func(r *Rig, _ *RecordChecker) { r.sendRequests(c.Plan(r), c.Command, n, rng) })
		})
	}
	t.Logf("%d storms of up to %d requests", to-from, most)
}

func (r *Rig) sendRequests(p actions.Plan, command string, n int, rng *rand.Rand) {
	r.Helper()
	if rng.IntN(2) == 0 {
		r.Sim.Faults().Add(simcluster.Rule{At: simcluster.Received, Delay: time.Millisecond, Times: -1})
	}
	wait := make([]time.Duration, n)
	who := make([]auth.Principal, n)
	for i := range n {
		who[i] = Anna
		if i > 0 && rng.IntN(4) == 0 {
			who[i] = Bert
		}
		if rng.IntN(2) == 0 {
			wait[i] = time.Duration(rng.IntN(40)) * time.Millisecond
		}
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	ids, made := map[string]int{}, 0
	for i := range n {
		all.Go(func() {
			time.Sleep(wait[i])
			run, created, err := r.RunPlan(who[i], p)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case who[i].ID != Anna.ID:
				expect.Equal(r, fault.Of(err), fault.Conflict, "somebody else got %v %v", run.ID, err)
			case err != nil:
				r.Error(err)
			default:
				ids[run.ID]++
			}
			if created {
				made++
			}
		})
	}
	all.Wait()
	must.That(r, len(ids) == 1 && made == 1, "%d runs, %d made", len(ids), made)
	for id := range ids {
		run := r.succeeds(id)
		r.CheckSentOnce(run)
		expect.Equal(r, len(r.Disk.Recorded("run.started")), 1, "beginnings recorded")
	}
	expect.Equal(r, len(r.Sim.Faults().Seen(command)), 1, "commands")
}
