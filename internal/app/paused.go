package app

import (
	"context"

	"shardboard/internal/actions/engine"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// pausesOf is how many runs are looked at, the newest: one that is gone with
// balancing paused is noticed long before so many follow it.
const pausesOf = 200

// pausedBalancing is what runs have switched off for their own time and not on
// again, for the rule on balancing left paused; nil where nothing can be changed
// here. A run of another process that owns the data directory is found by its
// record.
func (a *instance) pausedBalancing() func(ctx context.Context) ([]rules.PausedBalancing, error) {
	if a.engine == nil {
		return nil
	}
	return func(ctx context.Context) ([]rules.PausedBalancing, error) {
		var out []rules.PausedBalancing
		looked := 0
		err := eachRun(ctx, a.engine, func(r engine.Run) bool {
			for _, p := range r.Pauses() {
				paused := rules.PausedBalancing{What: rules.PausedBalancer, Run: r.ID, Since: p.Since, RunOpen: r.State.Open(), RunKnown: true}
				if p.NS != "" {
					paused.What, paused.NS = rules.PausedCollection, topology.Namespace(p.NS)
				}
				out = append(out, paused)
			}
			looked++
			return looked < pausesOf
		})
		return out, err
	}
}
