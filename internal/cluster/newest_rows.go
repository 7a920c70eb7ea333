package cluster

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat"
	"shardboard/internal/placement"
)

// NewestRows reads the newest rows, newest first, up to the limit: the shard key's
// fields, the requested fields and _id. Ordered by the time in the _id, it scans the
// newest entries of each shard's _id index. With a date field each shard scans its rows
// in the range of the leading field, so callers set a short deadline, which is sent as
// maxTimeMS. It prefers secondaries, to keep the load off busy primaries; the mongos
// uses shard versions, so orphans are left out. Needs find on the collection.
func (c *Client) NewestRows(ctx context.Context, q heat.NewestQuery) ([]placement.KeyedRow, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	when, from := "_id", any(firstID(q.From))
	if q.Date != "" {
		when, from = q.Date, q.From
	}
	filter := bson.D{}
	if span := leading(q); len(span) > 0 && q.Field != when {
		filter = append(filter, bson.E{Key: q.Field, Value: span})
	}
	filter = append(filter, bson.E{Key: when, Value: bson.D{{Key: "$gte", Value: from}}})
	names := append(append([]string{"_id", when}, q.Key...), q.Also...)
	more := append(singleBatch(q.Limit), bson.E{Key: "sort", Value: bson.D{{Key: when, Value: int32(-1)}}}, fields(names...))
	r := readOp{what: "read the newest rows of " + quoted(string(q.NS)), privilege: "find on " + string(q.NS), secondary: true}
	var out []placement.KeyedRow
	err := c.each(ctx, q.NS.Database(), find(q.NS.Collection(), filter, more...), r, func(doc bson.Raw) error {
		id, _ := doc.Lookup("_id").ObjectIDOK()
		out = append(out, placement.KeyedRow{ID: id, Doc: bytes.Clone(doc)})
		return nil
	})
	return out, err
}

// leading has the conditions on the first field of the shard key. The server compares
// within a type, so values of other types than the bounds are left out.
func leading(q heat.NewestQuery) bson.D {
	span := bson.D{}
	if q.Field == "" {
		return span
	}
	for _, end := range []struct {
		op string
		v  bson.RawValue
	}{{"$gte", q.Least}, {"$lte", q.Most}} {
		if t := end.v.Type; t != 0 && t != bson.TypeMinKey && t != bson.TypeMaxKey {
			span = append(span, bson.E{Key: end.op, Value: end.v})
		}
	}
	return span
}
