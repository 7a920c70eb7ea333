package cluster

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// TargetShards asks the mongos with explain to which shards it would send a find, to
// verify our own routing. The filter is sent unchanged: callers wrap user input in $eq.
// The result is sorted. Needs find on the collection.
func (c *Client) TargetShards(ctx context.Context, ns topology.Namespace, filter bson.D) ([]string, error) {
	cmd := bson.D{
		{Key: "explain", Value: find(ns.Collection(), filter)},
		{Key: "verbosity", Value: "queryPlanner"},
	}
	reply, err := c.one(ctx, ns.Database(), cmd, readOp{what: "explain a query", privilege: "find on " + string(ns)})
	if err != nil {
		return nil, err
	}
	var out []string
	list, _ := reply.Lookup("queryPlanner", "winningPlan", "shards").ArrayOK()
	w := walk(list)
	for w.next() {
		if one, ok := w.doc(); ok {
			if name, ok := one.Lookup("shardName").StringValueOK(); ok {
				out = append(out, name)
			}
		}
	}
	natural.Sort(out)
	return slices.Compact(out), nil
}
