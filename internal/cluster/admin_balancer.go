package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// StartBalancer turns the balancer on.
func (c *Client) StartBalancer(ctx context.Context, run string) error {
	return c.admin(ctx, run, bson.D{{Key: "balancerStart", Value: int32(1)}},
		action{what: "start the balancer", privilege: "update on config.settings"})
}

// StopBalancer turns the balancer off and waits for its round.
func (c *Client) StopBalancer(ctx context.Context, run string) error {
	return c.admin(ctx, run, bson.D{{Key: "balancerStop", Value: int32(1)}},
		action{what: "stop the balancer", privilege: "update on config.settings", limit: migrationTime})
}

// SetBalancerWindow sets the times of day between which the balancer may run, and from 8.3 on the windows by day, as
// topology.ParseDays reads them; what is empty is removed. There is no command for that; the MongoDB manual documents
// this write to config.settings.
func (c *Client) SetBalancerWindow(ctx context.Context, run, start, stop, days string) error {
	var set, unset bson.D
	if start != "" || stop != "" {
		for _, at := range []string{start, stop} {
			if _, err := time.Parse("15:04", at); err != nil || len(at) != len("15:04") {
				return fault.New(fault.Invalid, "%s is not a time of day from 00:00 to 23:59.", quoted(at))
			}
		}
		if start == stop {
			return fault.New(fault.Invalid, "The balancing window must begin and end at different times.")
		}
		set = append(set, bson.E{Key: "activeWindow", Value: bson.D{{Key: "start", Value: start}, {Key: "stop", Value: stop}}})
	} else {
		unset = append(unset, bson.E{Key: "activeWindow", Value: true})
	}
	release, err := c.release(ctx)
	if err != nil {
		return err
	}
	byDay := release.atLeast(8, 3, 0)
	switch list, ok := topology.ParseDays(days); {
	case days == "" && byDay:
		unset = append(unset, bson.E{Key: "activeWindowDOW", Value: true})
	case days == "":
	case !byDay:
		return fault.New(fault.Invalid, "Windows by day exist since MongoDB 8.3.")
	case !ok:
		return fault.New(fault.Invalid, "%s are no windows by day.", quoted(days))
	default:
		rows := bson.A{}
		for _, w := range list {
			rows = append(rows, bson.D{{Key: "day", Value: w.Day.String()}, {Key: "start", Value: w.Start}, {Key: "stop", Value: w.Stop}})
		}
		set = append(set, bson.E{Key: "activeWindowDOW", Value: rows})
	}
	var change bson.D
	for _, part := range []bson.E{{Key: "$set", Value: set}, {Key: "$unset", Value: unset}} {
		if len(part.Value.(bson.D)) > 0 {
			change = append(change, part)
		}
	}
	_, err = c.write(ctx, run, "settings", "balancer", change, true,
		action{what: "set the balancing window", privilege: "update and insert on config.settings"})
	return err
}

// SetBalancing writes the noBalance flag, as mongosh does; 8.0.10 and later have
// a command for it.
func (c *Client) SetBalancing(ctx context.Context, run string, ns topology.Namespace, enabled bool) error {
	const what = "switch balancing of the collection"
	release, err := c.release(ctx)
	if err != nil {
		return err
	}
	if release.atLeast(8, 0, 10) {
		return c.configureBalancing(ctx, run, ns, bson.E{Key: "enableBalancing", Value: enabled}, what)
	}
	matched, err := c.write(ctx, run, "collections", string(ns),
		bson.D{{Key: "$set", Value: bson.D{{Key: "noBalance", Value: !enabled}}}}, false,
		action{what: what, privilege: "update on config.collections"})
	if err == nil && matched == 0 {
		return fault.New(fault.NotFound, "Collection %s is not sharded.", ns)
	}
	return err
}

// Balanced returns balancerCollectionStatus of a collection.
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

// write updates one document of a config collection and returns how many matched. It is
// a plain command, so the driver does not retry it.
func (c *Client) write(ctx context.Context, run, coll, id string, change bson.D, upsert bool, a action) (matched int64, err error) {
	one := bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: id}}}, {Key: "u", Value: change}, {Key: "upsert", Value: upsert}}
	reply, err := c.command(ctx, run, "config", bson.D{
		{Key: "update", Value: coll},
		{Key: "updates", Value: bson.A{one}},
		{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}}},
	}, a)
	if err != nil {
		return 0, err
	}
	matched, _ = topology.Amount(reply.Lookup("n"))
	return matched, nil
}
