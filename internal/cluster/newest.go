package cluster

import (
	"bytes"
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"shardboard/internal/heat"
	"shardboard/internal/placement"
)

// NewestRows reads the rows that were written last, newest first, at most as many
// as the limit: the fields of the shard key and those asked for, and _id. By the
// time in the _id it is a walk of the newest entries of each shard's _id index.
// With a date field each shard goes through its rows in the range of the leading
// field: callers set a short deadline, which goes with it as maxTimeMS. It asks
// secondaries where there are any, so that a shard that is busy with writes has
// none of the work; the mongos asks with shard versions, so that orphans are left
// out. Needs find on the collection.
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
	more := append(limited(q.Limit), bson.E{Key: "sort", Value: bson.D{{Key: when, Value: int32(-1)}}}, fields(whole(names)...))
	r := read{what: "read the newest rows of " + quoted(string(q.NS)), privilege: "find on " + string(q.NS)}
	cur, err := c.mongo.Database(q.NS.Database()).RunCommandCursor(ctx, find(q.NS.Collection(), filter, more...),
		options.RunCmd().SetReadPreference(readpref.SecondaryPreferred()))
	if err != nil {
		return nil, c.classify(ctx, err, r.what, r.privilege)
	}
	defer func() { _ = cur.Close(context.WithoutCancel(ctx)) }() // the only batch is read: nothing is sent
	var out []placement.KeyedRow
	for cur.Next(ctx) {
		id, _ := cur.Current.Lookup("_id").ObjectIDOK()
		out = append(out, placement.KeyedRow{ID: id, Doc: bytes.Clone(cur.Current)})
	}
	return out, c.classify(ctx, cur.Err(), r.what, r.privilege)
}

// leading are the conditions on the leading field of the shard key. Values of
// other types than the ends' are left out by the server, which compares within a type.
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

// whole leaves out names that are there twice or inside another one: a
// projection of both is refused.
func whole(names []string) []string {
	var out []string
	for _, n := range names {
		inside := false
		for _, o := range names {
			inside = inside || strings.HasPrefix(n, o+".")
		}
		for _, o := range out {
			inside = inside || o == n
		}
		if !inside {
			out = append(out, n)
		}
	}
	return out
}
