package cluster

import (
	"context"

	"shardboard/internal/actions"
	"shardboard/internal/topology"
)

var _ actions.Latencies = (*Client)(nil)

// OperationTimes reads how many operations each shard has executed on a collection since its
// start, and how long they took, with one $collStats. Needs collStats on the collection.
func (c *Client) OperationTimes(ctx context.Context, ns topology.Namespace) (map[string]actions.OperationTimes, error) {
	read, err := c.Operations(ctx, ns)
	if err != nil {
		return nil, err
	}
	out := make(map[string]actions.OperationTimes, len(read))
	for shard, o := range read {
		out[shard] = actions.OperationTimes{Reads: o.Reads, Writes: o.Writes, ReadTime: o.ReadTime, WriteTime: o.WriteTime}
	}
	return out, nil
}
