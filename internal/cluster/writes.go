package cluster

import (
	"context"
	"encoding/binary"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// maxStoredID is how many bytes of an id that is no ObjectID are kept while writes are counted. Rows with longer ids
// are counted, but not placed.
const maxStoredID = 256

// Writes counts rows written in a time span, by project and document, with one
// aggregation. If the time is that of the _id, the shards use the _id index; each
// groups its own rows, and only groups cross the network. With a date field it scans
// the project's rows, or the whole collection without a project, so callers limit how
// often they do that. The deadline is sent as maxTimeMS. Needs find on the collection.
func (c *Client) Writes(ctx context.Context, q heat.WriteQuery) (heat.Written, error) {
	field, from, to := "_id", any(firstID(q.From)), any(firstID(q.To))
	if q.Date != "" {
		field, from, to = q.Date, q.From, q.To
	}
	span := bson.D{{Key: "$gte", Value: from}}
	if !q.To.IsZero() {
		span = append(span, bson.E{Key: "$lt", Value: to})
	}
	when := bson.E{Key: field, Value: span}
	match := bson.D{when}
	if q.Of.Type != 0 {
		match = bson.D{{Key: q.Project, Value: q.Of}, when}
	}
	group := bson.D{}
	if q.Project != "" {
		group = append(group, bson.E{Key: "p", Value: "$" + q.Project})
	}
	if q.Document != "" {
		group = append(group, bson.E{Key: "d", Value: "$" + q.Document})
	}
	cmd := bson.D{
		{Key: "aggregate", Value: q.NS.Collection()},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$match", Value: match}},
			bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: group}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int32(1)}}}}}},
			bson.D{{Key: "$sort", Value: bson.D{{Key: "n", Value: int32(-1)}}}},
			bson.D{{Key: "$limit", Value: int64(q.Limit)}},
		}},
		{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: int32(min(q.Limit, 5000))}}},
	}
	var out heat.Written
	r := readOp{what: "count the writes of " + quoted(string(q.NS)), privilege: "find on " + string(q.NS)}
	err := c.each(ctx, q.NS.Database(), cmd, r, func(doc bson.Raw) error {
		id := func(name string) bson.ObjectID {
			id, stored, _ := placement.IDOf(doc.Lookup("_id", name))
			if len(stored) <= maxStoredID {
				out.Stored = out.Stored.With(id, stored)
			}
			return id
		}
		w := heat.Count{Project: id("p"), Document: id("d")}
		rows, ok := topology.Amount(doc.Lookup("n"))
		if w.Rows = rows; ok {
			out.Counts = append(out.Counts, w)
		}
		return nil
	})
	return out, err
}

// firstID is the lowest ObjectID of a time, with a precision of a second.
func firstID(t time.Time) (id bson.ObjectID) {
	binary.BigEndian.PutUint32(id[:4], uint32(t.Unix()))
	return id
}

// Operations reads each shard's operation counts of a collection since its start, with
// one $collStats. Needs collStats on the collection.
func (c *Client) Operations(ctx context.Context, ns topology.Namespace) (map[string]heat.Operations, error) {
	cmd := bson.D{
		{Key: "aggregate", Value: ns.Collection()},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$collStats", Value: bson.D{{Key: "latencyStats", Value: bson.D{}}}}},
			bson.D{{Key: "$project", Value: including("_id", "shard", "latencyStats")}},
		}},
		{Key: "cursor", Value: bson.D{}},
	}
	out := map[string]heat.Operations{}
	r := readOp{what: "read latencies", privilege: "collStats on " + string(ns)}
	err := c.each(ctx, ns.Database(), cmd, r, func(doc bson.Raw) error {
		shard, ok := doc.Lookup("shard").StringValueOK()
		if !ok {
			return nil
		}
		known := true
		part := func(name string) (int64, time.Duration) {
			ops, ok := topology.Amount(doc.Lookup("latencyStats", name, "ops"))
			took, ok2 := duration(doc.Lookup("latencyStats", name, "latency"), time.Microsecond)
			known = known && ok && ok2
			return ops, took
		}
		var o heat.Operations
		o.Reads, o.ReadTime = part("reads")
		o.Writes, o.WriteTime = part("writes")
		o.Commands, o.CommandTime = part("commands")
		if known {
			out[shard] = o
		}
		return nil
	})
	return out, err
}
