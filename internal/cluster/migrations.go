package cluster

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Migrations reads config.migrations: one document per migration from its start to its
// end, manual or by the balancer (observed on 5.0.7). From 6.0 on migrations of other
// commands may be missing, and from 8.0 on the collection does not exist, so the result
// is empty. Needs find on it.
func (c *Client) Migrations(ctx context.Context) (out []topology.Migration, complete bool, err error) {
	release, err := c.release(ctx)
	if err != nil {
		return nil, false, err
	}
	cmd := find("migrations", bson.D{}, append(singleBatch(migrationLimit),
		fields("_id", "ns", "min", "max", "fromShard", "toShard", "waitForDelete"), withMajority)...)
	err = c.each(ctx, "config", cmd, findOn("migrations", "read the migrations"), func(doc bson.Raw) error {
		out = append(out, decodeMigration(doc))
		return nil
	})
	return out, !release.atLeast(6, 0, 0), err
}

// decodeMigration decodes a document of config.migrations. The start time is taken from
// an ObjectID _id; older releases have a string made from the namespace.
func decodeMigration(doc bson.Raw) (m topology.Migration) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "_id":
			if id, ok := doc.Lookup("_id").ObjectIDOK(); ok {
				m.Begun = id.Timestamp()
			}
		case "ns":
			ns, _ := w.str()
			m.NS = topology.Namespace(ns)
		case "min":
			m.Min = cloned(w.doc())
		case "max":
			m.Max = cloned(w.doc())
		case "fromShard":
			m.From, _ = w.str()
		case "toShard":
			m.To, _ = w.str()
		case "waitForDelete":
			m.Wait, _ = w.boolean()
		}
	}
	return m
}

func cloned(doc bson.Raw, ok bool) bson.Raw {
	if !ok {
		return nil
	}
	return bytes.Clone(doc)
}

// moveCommands are the commands that a donor may show for a migration: moveChunk on 5.0.7, the relayed one
// on 8.0.10.
var moveCommands = []string{"moveChunk", "moveRange", relayedMove}

// relayedMove is what the config server sends to the donor, whoever asked for the migration (seen on 8.0.10).
const relayedMove = "_shardsvrMoveRange"

// moveOperations selects the donors' commands and the threads that report a step. Only
// the fields that identify the migration are projected.
var moveOperations = func() bson.A {
	some := bson.A{bson.D{{Key: "desc", Value: bson.D{{Key: "$in", Value: bson.A{"MoveChunk", "migrateThread"}}}}}}
	kept := []string{"shard", "desc", "msg", "appName", "microsecs_running", "secs_running", "command.fromShard",
		"command.toShard", "command.to", "command.min"}
	for _, name := range moveCommands {
		some = append(some, bson.D{{Key: "command." + name, Value: bson.D{{Key: "$exists", Value: true}}}})
		kept = append(kept, "command."+name)
	}
	return bson.A{
		bson.D{{Key: "$currentOp", Value: bson.D{{Key: "allUsers", Value: true}, {Key: "localOps", Value: false}}}},
		bson.D{{Key: "$match", Value: bson.D{{Key: "$or", Value: some}}}},
		bson.D{{Key: "$project", Value: including(kept...)}},
	}
}()

// MoveOperations reads the migration operations of every shard through the mongos.
// Needs inprog on the cluster.
func (c *Client) MoveOperations(ctx context.Context) (out []topology.MoveOperation, err error) {
	cmd := bson.D{{Key: "aggregate", Value: 1}, {Key: "pipeline", Value: moveOperations}, {Key: "cursor", Value: bson.D{}}}
	r := readOp{what: "ask what the shards do for migrations", privilege: "inprog on the cluster"}
	err = c.each(ctx, "admin", cmd, r, func(doc bson.Raw) error {
		if o, ok := decodeMoveOperation(doc); ok && len(out) < 4*migrationLimit {
			out = append(out, o)
		}
		return nil
	})
	return out, err
}

// decodeMoveOperation decodes a row of $currentOp. A command without a donor runs on
// the mongos or the config server, not on the donor.
func decodeMoveOperation(doc bson.Raw) (o topology.MoveOperation, ok bool) {
	o.Shard, _ = doc.Lookup("shard").StringValueOK()
	if msg, isText := doc.Lookup("msg").StringValueOK(); isText {
		var step, steps int
		if n, _ := fmt.Sscanf(msg, "step %d of %d", &step, &steps); n == 2 && step > 0 && step <= steps && steps <= 20 {
			o.Step, o.Steps = step, steps
		}
	}
	command, _ := doc.Lookup("command").DocumentOK()
	for _, name := range moveCommands {
		ns, isText := command.Lookup(name).StringValueOK()
		from, named := command.Lookup("fromShard").StringValueOK()
		if !isText || !named {
			continue
		}
		o.Command, o.NS, o.From = true, topology.Namespace(ns), from
		if o.To, _ = command.Lookup("toShard").StringValueOK(); o.To == "" {
			o.To, _ = command.Lookup("to").StringValueOK()
		}
		o.Min = cloned(command.Lookup("min").DocumentOK())
		o.App, _ = doc.Lookup("appName").StringValueOK()
		o.Relayed = name == relayedMove
		if running, has := duration(doc.Lookup("microsecs_running"), time.Microsecond); has {
			o.Running = running
		}
	}
	return o, o.Shard != "" && (o.Command || o.Steps > 0)
}

// Counts reads the number of documents of a collection on each shard that has a chunk
// of it, orphans included: documents of a migration are orphans on the recipient until
// it commits.
func (c *Client) Counts(ctx context.Context, ns topology.Namespace) (map[string]int64, error) {
	out := map[string]int64{}
	cmd := bson.D{
		{Key: "aggregate", Value: ns.Collection()},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$collStats", Value: bson.D{{Key: "storageStats", Value: bson.D{}}}}},
			bson.D{{Key: "$project", Value: including("shard", "storageStats.count")}},
		}},
		{Key: "cursor", Value: bson.D{}},
	}
	r := readOp{what: "count documents on the shards", privilege: "collStats on " + string(ns)}
	err := c.each(ctx, ns.Database(), cmd, r, func(doc bson.Raw) error {
		shard, _ := doc.Lookup("shard").StringValueOK()
		if n, ok := topology.Amount(doc.Lookup("storageStats", "count")); ok && shard != "" {
			out[shard] = n
		}
		return nil
	})
	return out, err
}
