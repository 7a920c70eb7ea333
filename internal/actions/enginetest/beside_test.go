package enginetest

import (
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

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
			if len(ids) < 4 {
				r.Fatalf("only %d of %d runs", len(ids), len(plans))
			}
			for _, id := range ids {
				run := r.WaitLongEnd(id)
				r.CheckSentOnce(run)
				if run.State != engine.Succeeded {
					r.Errorf("seed %d: %s %s: %v", seed, run.Kind, run.State, run.Why)
				}
			}
		})
	}
}
