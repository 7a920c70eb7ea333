package cluster

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Collections lists a database's collections. nameOnly avoids locking each collection.
// authorizedCollections is not set, because without the listCollections privilege it
// would return a partial list that looks complete.
func (c *Client) Collections(ctx context.Context, db string) ([]topology.Namespace, error) {
	var out, series []topology.Namespace
	cmd := bson.D{
		{Key: "listCollections", Value: 1}, {Key: "nameOnly", Value: true},
		{Key: "cursor", Value: bson.D{}},
	}
	r := readOp{what: "list the collections of " + quoted(db), privilege: "listCollections on " + db}
	err := c.each(ctx, db, cmd, r, func(doc bson.Raw) error {
		name, _ := doc.Lookup("name").StringValueOK()
		kind, _ := doc.Lookup("type").StringValueOK()
		ns := topology.Namespace(db + "." + name)
		switch {
		case name == "" || kind == "view" || strings.HasPrefix(name, "system.") && !topology.IsBuckets(ns):
		case kind == "timeseries":
			series = append(series, ns)
		default:
			out = append(out, ns)
		}
		return nil
	})
	// Up to 8.2 a time-series collection is a view of its buckets, which are listed beside it. A viewless one
	// of 9.0 has none.
	buckets := map[topology.Namespace]bool{}
	for _, ns := range out {
		buckets[ns] = topology.IsBuckets(ns)
	}
	for _, ns := range series {
		if !buckets[topology.BucketsOf(ns)] {
			out = append(out, ns)
		}
	}
	return out, err
}
