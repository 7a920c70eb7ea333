package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// BalancerActions reads the end of config.actionlog backwards in natural order:
// it has no index by time, and a capped collection keeps its order of insertion.
func (c *Client) BalancerActions(ctx context.Context, limit int) (out []topology.BalancerAction, err error) {
	cmd := find("actionlog", bson.D{}, append(singleBatch(limit), fields("_id", "time", "what", "details"),
		bson.E{Key: "sort", Value: bson.D{{Key: "$natural", Value: int32(-1)}}})...)
	err = c.each(ctx, "config", cmd, findOn("actionlog", "read the balancer's log"), func(doc bson.Raw) error {
		out = append(out, decodeAction(doc))
		return nil
	})
	return out, err
}

func decodeAction(doc bson.Raw) (a topology.BalancerAction) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "_id":
			if id, ok := w.str(); ok {
				a.ID = id
			} else {
				a.ID = string(w.val)
			}
		case "time":
			a.Time, _ = w.date()
		case "what":
			a.What, _ = w.str()
		case "details":
			if d, ok := w.doc(); ok {
				decodeRound(d, &a)
			}
		}
	}
	return a
}

// decodeRound reads the details of a round: servers before 6.0 write errorOccured,
// later ones errorOccurred.
func decodeRound(d bson.Raw, a *topology.BalancerAction) {
	w := walk(d)
	for w.next() {
		switch string(w.key) {
		case "executionTimeMillis":
			a.Took, _ = duration(w.value(), time.Millisecond)
		case "chunksMoved":
			a.Moved, _ = w.number()
		case "errorOccured", "errorOccurred":
			failed, _ := w.boolean()
			a.Failed = a.Failed || failed
		}
	}
}
