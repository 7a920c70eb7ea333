package cluster

import (
	"bytes"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
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
// is nil, of all. Rows with the same id on several shards are adjacent. Needs find on the
// collection.
func (c *Client) RowSizes(ctx context.Context, q survey.SizeQuery, project *bson.RawValue,
	from survey.Position) ([]survey.SizedRow, error) {
	match := bson.D{}
	if project != nil {
		match = append(match, bson.E{Key: q.Project, Value: *project})
	}
	switch {
	case from.ID.Type == 0:
	case from.NextTypes:
		types := typesAfter(from.ID.Type)
		if len(types) == 0 {
			return nil, nil
		}
		match = append(match, bson.E{Key: "_id", Value: bson.D{{Key: "$type", Value: types}}})
	default:
		match = append(match, bson.E{Key: "_id", Value: bson.D{{Key: "$gte", Value: from.ID}}})
	}
	return c.sizes(ctx, q, "read the sizes of",
		bson.D{{Key: "$match", Value: match}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: int32(1)}}}},
		bson.D{{Key: "$limit", Value: int64(q.Limit)}})
}

// idTypes are the types that an _id can have, in the order of the server; those in one line are compared with each
// other.
var idTypes = [][]bson.Type{
	{bson.TypeMinKey}, {bson.TypeNull},
	{bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128},
	{bson.TypeString, bson.TypeSymbol},
	{bson.TypeEmbeddedDocument}, {bson.TypeBinary}, {bson.TypeObjectID}, {bson.TypeBoolean}, {bson.TypeDateTime}, {bson.TypeTimestamp},
	{bson.TypeDBPointer}, {bson.TypeJavaScript}, {bson.TypeCodeWithScope}, {bson.TypeMaxKey},
}

// typesAfter are the types after one, by the numbers that $type takes.
func typesAfter(t bson.Type) bson.A {
	out, after := bson.A{}, false
	for _, line := range idTypes {
		for _, one := range line {
			if after {
				out = append(out, int32(int8(one))) // MinKey is -1
			}
		}
		after = after || slices.Contains(line, t)
	}
	return out
}

func (c *Client) sizes(ctx context.Context, q survey.SizeQuery, doing string, stages ...bson.D) ([]survey.SizedRow, error) {
	names := append([]string{"_id", q.Project, q.Document, q.Dead.Field}, q.Key...)
	projection := append(including(names...), bson.E{Key: sizeField, Value: bson.D{{Key: "$bsonSize", Value: "$$ROOT"}}})
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
	row.Project, _, _ = placement.IDOf(shardkey.FieldOf(doc, q.Project))
	row.Document, _, _ = placement.IDOf(shardkey.FieldOf(doc, q.Document))
	row.Bytes, _ = topology.Amount(doc.Lookup(sizeField))
	dead := shardkey.FieldOf(doc, q.Dead.Field)
	text, _ := dead.StringValueOK()
	row.Dead = dead.Type != 0 && dead.Type != bson.TypeNull && (q.Dead.Value == "" || q.Dead.Value == text)
	return row
}

// DocumentSize counts the rows and bytes of one Yorkie document with an aggregation on
// its shard. The deadline is sent as maxTimeMS. Needs find on the collection.
func (c *Client) DocumentSize(ctx context.Context, q survey.DocumentSizeQuery) (survey.DocumentSize, error) {
	match := bson.D{{Key: q.Document, Value: q.ID}}
	if q.Project != "" && q.Of.Type != 0 {
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
