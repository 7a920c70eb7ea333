package cluster

import (
	"context"

	"shardboard/internal/actions/operation"
	"shardboard/internal/topology"
)

var _ operation.Latencies = (*Client)(nil)

// OperationTimes reads how many operations each shard has executed on a collection since its
// start, and how long they took, with one $collStats. Needs collStats on the collection.
func (c *Client) OperationTimes(ctx context.Context, ns topology.Namespace) (map[string]operation.OperationTimes, error) {
	read, err := c.Operations(ctx, ns)
	if err != nil {
		return nil, err
	}
	out := make(map[string]operation.OperationTimes, len(read))
	for shard, o := range read {
		out[shard] = operation.OperationTimes{Reads: o.Reads, Writes: o.Writes, ReadTime: o.ReadTime, WriteTime: o.WriteTime}
	}
	return out, nil
}
