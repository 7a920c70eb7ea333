package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/topology"
)

// indexesTimeout limits the reading of indexes. After it a plan is made without them.
const indexesTimeout = 5 * time.Second

// withIndexes adds the indexes of a collection to the situation, or the reason why they
// could not be read.
func (e *planning) withIndexes(ctx context.Context, s actions.Situation, ns topology.Namespace) actions.Situation {
	ctx, cancel := context.WithTimeout(ctx, indexesTimeout)
	defer cancel()
	all, err := e.opts.Indexes.Indexes(ctx, ns)
	if err != nil {
		e.opts.Log.Warn("read the indexes for a plan", "ns", string(ns), "err", err)
		s.Indexes = actions.Indexes{Reason: readFailureReason(err)}
		return s
	}
	s.Indexes = actions.Indexes{All: all, At: e.now()}
	return s
}
