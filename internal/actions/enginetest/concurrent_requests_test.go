package enginetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
)

func TestManyRequestsForOnePlanStartOneRun(t *testing.T) {
	c := caseNamed("split at a key")
	OnRig(t, c.Setup(), func(r *Rig) {
		p := c.Plan(r)
		var mu sync.Mutex
		ids, made := map[string]bool{}, 0
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				run, created, err := r.RunPlan(Anna, p)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					r.Error(err)
				}
				ids[run.ID] = true
				if created {
					made++
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if len(ids) != 1 || made != 1 {
			r.Fatalf("%d runs, %d made", len(ids), made)
		}
		for id := range ids {
			r.checkReported(r.WaitEnd(id))
		}
		if n := len(r.Sim.Faults().Seen("split")); n != 1 {
			r.Errorf("%d commands", n)
		}
	})
}

// Many clients ask at the same time to run one plan. Its maker gets one run,
// everybody else a refusal, and the cluster receives one command.
func TestAStormOfRequestsSendsOneCommand(t *testing.T) {
	cases := Cases()
	from, to := seeds(t, sampleSize(10, 200, 1000))
	most := 0
	for seed := from; seed < to; seed++ {
		rng := rand.New(rand.NewPCG(seed, 2))
		c, n := cases[rng.IntN(len(cases))], 2+rng.IntN(49)
		most = max(most, n)
		t.Run(fmt.Sprintf("ACTIONS_SEED=%d %s × %d", seed, c.Name, n), func(t *testing.T) {
			t.Parallel()
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
				if fault.Of(err) != fault.Conflict {
					r.Errorf("somebody else got %v %v", run.ID, err)
				}
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
	if len(ids) != 1 || made != 1 {
		r.Fatalf("%d runs, %d made", len(ids), made)
	}
	for id := range ids {
		run := r.WaitEnd(id)
		if run.State != engine.Succeeded {
			r.Errorf("%s %v", run.State, run.Why)
		}
		r.CheckSentOnce(run)
		if n := len(r.Disk.Recorded("run.started")); n != 1 {
			r.Errorf("%d beginnings recorded", n)
		}
	}
	if n := len(r.Sim.Faults().Seen(command)); n != 1 {
		r.Errorf("%d commands", n)
	}
}
