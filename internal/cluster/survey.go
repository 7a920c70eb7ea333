package cluster

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// sizeField is the result field with a row's size; no shard key has a field of that
// name.
const sizeField = "__shardboard_bytes"

// SampleSizes reads a random sample of rows with their sizes, with $sample and without
// orphans. The server uses a random cursor if the collection has more than twenty times
// as many rows, otherwise it reads all rows. Needs find on the collection.
func (c *Client) SampleSizes(ctx context.Context, q survey.SizeQuery) ([]survey.SizedRow, error) {
	return c.sizes(ctx, q, "draw a sample of", bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: int64(q.Limit)}}}})
}

// RowSizes reads rows in id order, from an id on (inclusive), of one project or, if it
// is nil, of all. Only ObjectID ids are read. Rows with the same id on several shards
// are adjacent. Needs find on the collection.
func (c *Client) RowSizes(ctx context.Context, q survey.SizeQuery, project *bson.ObjectID, from bson.ObjectID) ([]survey.SizedRow, error) {
	match := bson.D{}
	if project != nil {
		match = append(match, bson.E{Key: q.Project, Value: *project})
	}
	match = append(match, bson.E{Key: "_id", Value: bson.D{{Key: "$gte", Value: from}}})
	return c.sizes(ctx, q, "read the sizes of",
		bson.D{{Key: "$match", Value: match}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: int32(1)}}}},
		bson.D{{Key: "$limit", Value: int64(q.Limit)}})
}

func (c *Client) sizes(ctx context.Context, q survey.SizeQuery, doing string, stages ...bson.D) ([]survey.SizedRow, error) {
	names := append([]string{"_id"}, q.Key...)
	for _, f := range []string{q.Project, q.Document, q.Dead.Field} {
		if f != "" {
			names = append(names, f)
		}
	}
	projection := bson.D{}
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			projection = append(projection, bson.E{Key: n, Value: int32(1)})
		}
	}
	projection = append(projection, bson.E{Key: sizeField, Value: bson.D{{Key: "$bsonSize", Value: "$$ROOT"}}})
	pipeline := bson.A{}
	for _, s := range stages {
		pipeline = append(pipeline, s)
	}
	cmd := bson.D{
		{Key: "aggregate", Value: q.NS.Collection()},
		{Key: "pipeline", Value: append(pipeline, bson.D{{Key: "$project", Value: projection}})},
		{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: int32(q.Limit)}}},
	}
	var out []survey.SizedRow
	r := readOp{what: doing + " " + quoted(string(q.NS)), privilege: "find on " + string(q.NS)}
	err := c.each(ctx, q.NS.Database(), cmd, r, func(doc bson.Raw) error {
		out = append(out, decodeSized(q, doc))
		return nil
	})
	return out, err
}

func decodeSized(q survey.SizeQuery, doc bson.Raw) survey.SizedRow {
	row := survey.SizedRow{Key: bytes.Clone(doc)}
	row.ID, _ = doc.Lookup("_id").ObjectIDOK()
	if q.Project != "" {
		row.Project, _, _ = placement.IDOf(doc.Lookup(q.Project))
	}
	if q.Document != "" {
		row.Document, _ = doc.Lookup(q.Document).ObjectIDOK()
	}
	row.Bytes, _ = topology.Amount(doc.Lookup(sizeField))
	if q.Dead.Field != "" {
		v, err := doc.LookupErr(q.Dead.Field)
		text, _ := v.StringValueOK()
		row.Dead = err == nil && v.Type != bson.TypeNull && (q.Dead.Value == "" || q.Dead.Value == text)
	}
	return row
}

// DocumentSize counts the rows and bytes of one Yorkie document with an aggregation on
// its shard. The deadline is sent as maxTimeMS. Needs find on the collection.
func (c *Client) DocumentSize(ctx context.Context, q survey.DocumentSizeQuery) (survey.DocumentSize, error) {
	match := bson.D{{Key: q.Document, Value: q.ID}}
	if q.Project != "" && !q.Of.IsZero() {
		match = append(match, bson.E{Key: q.Project, Value: q.Of})
	}
	cmd := bson.D{
		{Key: "aggregate", Value: q.NS.Collection()},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$match", Value: match}},
			bson.D{{Key: "$limit", Value: int64(q.Limit) + 1}},
			bson.D{{Key: "$group", Value: bson.D{
				{Key: "_id", Value: nil},
				{Key: "n", Value: bson.D{{Key: "$sum", Value: int32(1)}}},
				{Key: "b", Value: bson.D{{Key: "$sum", Value: bson.D{{Key: "$bsonSize", Value: "$$ROOT"}}}}},
			}}},
		}},
		{Key: "cursor", Value: bson.D{}},
	}
	var out survey.DocumentSize
	r := readOp{what: "count the rows of " + quoted(string(q.NS)), privilege: "find on " + string(q.NS)}
	err := c.each(ctx, q.NS.Database(), cmd, r, func(doc bson.Raw) error {
		out.Rows, _ = topology.Amount(doc.Lookup("n"))
		out.Bytes, _ = topology.Amount(doc.Lookup("b"))
		return nil
	})
	out.AtLeast = out.Rows > int64(q.Limit)
	return out, err
}
