package cluster

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/heat/rowsample"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

var _ rowsample.Source = (*Client)(nil)

// batchOfRows is how many rows come in a message. A cursor reads the next ones when its reader has taken these.
const batchOfRows = 200

// RandomRows draws rows with $sample, without orphans, of a secondary where there is one. It needs find on the
// collection.
func (c *Client) RandomRows(ctx context.Context, ns topology.Namespace, fields []string, rows int,
	each func(rowsample.Row) error) error {
	return c.rows(ctx, ns, fields, bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: int64(rows)}}}}, each)
}

// AllRows reads at most so many rows in no order, without orphans, of a secondary where there is one. It needs find on
// the collection.
func (c *Client) AllRows(ctx context.Context, ns topology.Namespace, fields []string, most int,
	each func(rowsample.Row) error) error {
	return c.rows(ctx, ns, fields, bson.D{{Key: "$limit", Value: int64(most)}}, each)
}

func (c *Client) rows(ctx context.Context, ns topology.Namespace, names []string, stage bson.D, each func(rowsample.Row) error) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	names = append([]string{"_id"}, names...)
	projection := append(including(names...), bson.E{Key: sizeField, Value: bson.D{{Key: "$bsonSize", Value: "$$ROOT"}}})
	cmd := bson.D{
		{Key: "aggregate", Value: ns.Collection()},
		{Key: "pipeline", Value: bson.A{stage, bson.D{{Key: "$project", Value: projection}}}},
		{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: int32(batchOfRows)}}},
	}
	r := readOp{what: "read rows of " + quoted(string(ns)), privilege: "find on " + string(ns), batch: batchOfRows, secondary: true}
	return c.each(ctx, ns.Database(), cmd, r, func(doc bson.Raw) error {
		row := rowsample.Row{Doc: bytes.Clone(doc)}
		row.Bytes, _ = topology.Amount(doc.Lookup(sizeField))
		return each(row)
	})
}

// UniqueIndexes are the fields of a collection's unique indexes but that of _id. It needs listIndexes on the
// collection.
func (c *Client) UniqueIndexes(ctx context.Context, ns topology.Namespace) ([][]string, error) {
	all, err := c.Indexes(ctx, ns)
	if err != nil {
		return nil, err
	}
	var out [][]string
	for _, x := range all {
		if !x.Unique {
			continue
		}
		var names []string
		elements, err := x.Key.Elements()
		if err != nil {
			continue
		}
		for _, e := range elements {
			names = append(names, e.Key())
		}
		out = append(out, names)
	}
	return out, nil
}

// AnalyzeKey asks analyzeShardKey (7.0) for the characteristics of a key, and where sampled queries would go if
// somebody has let the server sample them (configureQueryAnalyzer). It needs the action analyzeShardKey on the
// collection, which the role enableSharding has, and for the queries find on config.queryAnalyzers.
func (c *Client) AnalyzeKey(ctx context.Context, ns topology.Namespace, key shardkey.Pattern,
	rows int) (out rowsample.Analysis, err error) {
	cmd := bson.D{
		{Key: "analyzeShardKey", Value: string(ns)},
		{Key: "key", Value: key.Raw()},
		{Key: "readWriteDistribution", Value: false},
		{Key: "sampleSize", Value: int64(rows)},
	}
	reply, err := c.one(ctx, "admin", cmd, readOp{what: "analyze a shard key of " + quoted(string(ns)), privilege: on("analyzeShardKey", ns)})
	if err != nil {
		return out, err
	}
	out.Queries = c.sampledQueries(ctx, ns, key)
	k, ok := reply.Lookup("keyCharacteristics").DocumentOK()
	if !ok {
		out.Reason = "No index begins with the key, so the server cannot analyze it."
		return out, nil
	}
	out.Rows, ok = topology.Amount(k.Lookup("numDocsSampled"))
	values, known := topology.Amount(k.Lookup("numDistinctValues"))
	if !ok || !known || out.Rows <= 0 {
		return out, fault.New(fault.Internal, "The cluster's answer to analyzeShardKey of %s has no figures.", quoted(string(ns)))
	}
	out.Values = values
	out.Unique = isTrue(k.Lookup("isUnique"))
	out.Monotonic, _ = k.Lookup("monotonicity", "type").StringValueOK()
	if list, ok := k.Lookup("mostCommonValues").ArrayOK(); ok {
		common, _ := list.Values() // none: the figure stays 0, which is shown as not known
		for _, v := range common {
			if d, ok := v.DocumentOK(); ok {
				n, _ := topology.Amount(d.Lookup("frequency"))
				out.Common = max(out.Common, n)
			}
		}
	}
	return out, nil
}
