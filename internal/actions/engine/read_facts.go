package engine

import (
	"context"
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

// readPreconditions reads the preconditions of a step and compares them. An error
// means that some could not be read, so none may be relied on.
func (x *execution) readPreconditions(s operation.Step) (readings []Reading, different []operation.Difference, err error) {
	needs := slices.Clone(s.Needs)
	if s.Op == operation.OpMoveRange { // a range that is not inside one chunk hangs on 8.0.10, so that is read last
		slices.SortStableFunc(needs, func(a, b operation.Fact) int { return isChunk(a) - isChunk(b) })
	}
	return x.e.readFacts(x.ctx, needs)
}

func isChunk(f operation.Fact) int {
	if f.Kind == operation.FactChunk {
		return 1
	}
	return 0
}

// readFacts reads facts and lists how they differ from their expected values.
func (e *base) readFacts(ctx context.Context, facts []operation.Fact) (readings []Reading, different []operation.Difference, err error) {
	for _, f := range facts {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		got, err := e.opts.Reader.ReadFact(ctx, f)
		cancel()
		if err != nil {
			return readings, different, err
		}
		readings = append(readings, Reading{Fact: f, Got: got, At: e.now()})
		different = append(different, f.Against(got)...)
	}
	return readings, different, e.checkSameCluster(ctx)
}

// checkSameCluster fails when a different cluster now answers at the address. It is
// called after facts were read, so that none of them can come from the other
// cluster.
func (e *base) checkSameCluster(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	id, err := e.opts.Reader.ClusterID(ctx)
	if known := e.clusterID(); err == nil && id != "" && known != "" && id != known {
		err = topology.OtherCluster(known, id)
	}
	return err
}
