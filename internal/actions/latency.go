package actions

import (
	"context"
	"time"

	"shardboard/internal/topology"
)

// OperationTimes are the operations on a collection on one shard since that shard's server was
// started, and the time that they took.
type OperationTimes struct {
	Reads, Writes       int64
	ReadTime, WriteTime time.Duration
}

// Latencies reads how long operations take. Errors are classified with fault.
type Latencies interface {
	// OperationTimes returns the operations of a collection by shard. A shard that does not
	// answer is an error.
	OperationTimes(ctx context.Context, ns topology.Namespace) (map[string]OperationTimes, error)
}
