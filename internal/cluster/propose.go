package cluster

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile/propose"
	"shardboard/internal/topology"
)

var _ propose.Source = (*Client)(nil)

// proposeTime bounds each read for a proposal: it is sent as maxTimeMS.
const proposeTime = 5 * time.Second

// FieldNames reads the names and types of the fields of at most so many rows, and the types at some paths. The server
// takes the rows apart, so no value of them is sent. Needs find on the collection.
func (c *Client) FieldNames(ctx context.Context, ns topology.Namespace, paths []string, rows int) ([]propose.Field, error) {
	ctx, cancel := context.WithTimeout(ctx, proposeTime)
	defer cancel()
	names := bson.D{{Key: "$map", Value: bson.D{
		{Key: "input", Value: bson.D{{Key: "$objectToArray", Value: "$$ROOT"}}},
		{Key: "as", Value: "f"},
		{Key: "in", Value: bson.D{{Key: "k", Value: "$$f.k"}, {Key: "t", Value: bson.D{{Key: "$type", Value: "$$f.v"}}}}},
	}}}
	inside := bson.A{}
	for _, path := range paths {
		inside = append(inside, bson.D{{Key: "k", Value: bson.D{{Key: "$literal", Value: path}}},
			{Key: "t", Value: bson.D{{Key: "$type", Value: "$" + path}}}, {Key: "path", Value: true}})
	}
	all := bson.D{{Key: "$concatArrays", Value: bson.A{names, inside}}}
	cmd := bson.D{
		{Key: "aggregate", Value: ns.Collection()},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$limit", Value: int64(rows)}},
			bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: int32(0)}, {Key: "f", Value: all}}}},
		}},
		{Key: "cursor", Value: bson.D{}},
	}
	type field struct {
		name   string
		dotted bool
	}
	types := map[field][]string{}
	r := readOp{what: "read the names of fields of " + quoted(string(ns)), privilege: "find on " + string(ns), secondary: true}
	err := c.each(ctx, ns.Database(), cmd, r, func(doc bson.Raw) error {
		list, _ := doc.Lookup("f").ArrayOK() // absent in a row without fields
		fields, _ := list.Values()
		for _, f := range fields {
			of, ok := f.DocumentOK()
			if !ok {
				continue
			}
			name, _ := of.Lookup("k").StringValueOK()
			kind, _ := of.Lookup("t").StringValueOK()
			at := field{name, strings.Contains(name, ".") && of.Lookup("path").Type == 0}
			if kind != "missing" && !slices.Contains(types[at], kind) {
				types[at] = append(types[at], kind)
			}
		}
		return nil
	})
	var out []propose.Field
	for at, kinds := range types {
		out = append(out, propose.Field{Name: at.name, Types: kinds, Dotted: at.dotted})
	}
	return out, err
}

// SomeRows reads rows in no order: only the named fields and _id. Values are compared literally. Needs find on the
// collection.
func (c *Client) SomeRows(ctx context.Context, ns topology.Namespace, q propose.Rows) (out []bson.Raw, err error) {
	ctx, cancel := context.WithTimeout(ctx, proposeTime)
	defer cancel()
	r := readOp{what: "read rows of " + quoted(string(ns)), privilege: "find on " + string(ns), secondary: true}
	if q.Random {
		cmd := bson.D{
			{Key: "aggregate", Value: ns.Collection()},
			{Key: "pipeline", Value: bson.A{
				bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: int64(q.Limit)}}}},
				bson.D{{Key: "$project", Value: including(append([]string{"_id"}, q.Fields...)...)}},
			}},
			{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: int32(q.Limit)}}},
		}
		err = c.each(ctx, ns.Database(), cmd, r, func(doc bson.Raw) error {
			out = append(out, bytes.Clone(doc))
			return nil
		})
		return out, err
	}
	filter := bson.D{}
	if len(q.In) > 0 {
		filter = bson.D{{Key: q.Where, Value: bson.D{{Key: "$in", Value: q.In}}}}
	}
	more := append(singleBatch(q.Limit), fields(append([]string{"_id"}, q.Fields...)...))
	err = c.each(ctx, ns.Database(), find(ns.Collection(), filter, more...), r, func(doc bson.Raw) error {
		out = append(out, bytes.Clone(doc))
		return nil
	})
	return out, err
}

// CountOf counts the rows with a value of a field, or all rows if field is "", and stops at a limit. An index that
// begins with the field serves it. Needs find on the collection.
func (c *Client) CountOf(ctx context.Context, ns topology.Namespace, field string, value bson.RawValue, limit int) (rows int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, proposeTime)
	defer cancel()
	filter := bson.D{}
	if field != "" {
		filter = bson.D{{Key: field, Value: bson.D{{Key: "$eq", Value: value}}}}
	}
	cmd := bson.D{
		{Key: "aggregate", Value: ns.Collection()},
		{Key: "pipeline", Value: bson.A{
			bson.D{{Key: "$match", Value: filter}},
			bson.D{{Key: "$limit", Value: int64(limit)}},
			bson.D{{Key: "$count", Value: "n"}},
		}},
		{Key: "cursor", Value: bson.D{}},
	}
	r := readOp{what: "count rows of " + quoted(string(ns)), privilege: "find on " + string(ns), secondary: true}
	err = c.each(ctx, ns.Database(), cmd, r, func(doc bson.Raw) error {
		rows, _ = topology.Amount(doc.Lookup("n"))
		return nil
	})
	return rows, err
}
