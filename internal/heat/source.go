package heat

import (
	"context"

	"shardboard/internal/topology"
)

// Source is what heat reads of a cluster. Errors are classified with fault.
type Source interface {
	// Writes counts rows written in a span of time by project and document, busiest
	// first, at most Limit groups.
	Writes(ctx context.Context, q WriteQuery) (Written, error)
	// Operations returns each shard's counters for a collection since the shard started.
	Operations(ctx context.Context, ns topology.Namespace) (map[string]Operations, error)
}
