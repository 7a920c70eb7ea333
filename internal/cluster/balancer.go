package cluster

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/topology"
)

// Settings reads config.settings, as the balancer of this release does.
func (c *Client) Settings(ctx context.Context) (topology.Balancer, error) {
	var of balance.Release
	if release, err := c.release(ctx); err == nil {
		of = balance.Release(release)
	}
	var rows []bson.Raw
	cmd := find("settings", bson.D{}, withMajority)
	err := c.each(ctx, "config", cmd, findOn("settings", "read the balancer's settings"), func(doc bson.Raw) error {
		rows = append(rows, slices.Clone(doc))
		return nil
	})
	if err != nil {
		return topology.Balancer{}, err
	}
	return balance.ReadSettings(rows, of), nil
}

// BalancerStatus reports whether a balancer round is running, and the number of rounds.
func (c *Client) BalancerStatus(ctx context.Context) (inRound bool, rounds int64, err error) {
	reply, err := c.one(ctx, "admin", bson.D{{Key: "balancerStatus", Value: 1}},
		readOp{what: "ask for the balancer's status", privilege: "find on config.settings"})
	if err != nil {
		return false, 0, err
	}
	inRound, _ = reply.Lookup("inBalancerRound").BooleanOK()
	rounds, _ = topology.Amount(reply.Lookup("numBalancerRounds"))
	return inRound, rounds, nil
}

// Balanced returns balancerCollectionStatus of a collection: whether the balancer has nothing to do for it,
// and if it has,
// the reason in the server's words. The server ignores jumbo chunks here.
func (c *Client) Balanced(ctx context.Context, ns topology.Namespace) (ok bool, violation string, err error) {
	cmd := bson.D{{Key: "balancerCollectionStatus", Value: ns}}
	reply, err := c.one(ctx, "admin", cmd, readOp{what: "ask whether the collection is balanced", privilege: on("enableSharding", ns)})
	if err != nil {
		return false, "", err
	}
	ok, _ = reply.Lookup("balancerCompliant").BooleanOK()
	violation, _ = reply.Lookup("firstComplianceViolation").StringValueOK()
	return ok, violation, nil
}
