package app

import (
	"context"

	"shardboard/internal/actions/engine"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// pausesMaxRuns is how many of the newest runs are read. A run that ended with balancing paused is
// noticed long before so many follow it.
const pausesMaxRuns = 200

// pausedBalancing returns the function that lists balancing which runs paused and did not resume,
// for the rule on paused balancing; nil while actions are off. Runs of another process that owns
// the data directory are found in the journal.
func (p *clusterParts) pausedBalancing() func(ctx context.Context) ([]rules.PausedBalancing, error) {
	if p.engine == nil {
		return nil
	}
	return func(ctx context.Context) ([]rules.PausedBalancing, error) {
		var out []rules.PausedBalancing
		looked := 0
		err := forEachRun(ctx, p.engine, func(r engine.Run) bool {
			for _, p := range r.Pauses() {
				paused := rules.PausedBalancing{What: rules.PausedBalancer, Run: r.ID, Since: p.Since, RunOpen: r.State.Open(), RunKnown: true}
				if p.NS != "" {
					paused.What, paused.NS = rules.PausedCollection, topology.Namespace(p.NS)
				}
				out = append(out, paused)
			}
			looked++
			return looked < pausesMaxRuns
		})
		return out, err
	}
}
