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
	var out []topology.Namespace
	cmd := bson.D{
		{Key: "listCollections", Value: 1}, {Key: "nameOnly", Value: true},
		{Key: "cursor", Value: bson.D{}},
	}
	r := readOp{what: "list the collections of " + quoted(db), privilege: "listCollections on " + db}
	err := c.each(ctx, db, cmd, r, func(doc bson.Raw) error {
		name, _ := doc.Lookup("name").StringValueOK()
		kind, _ := doc.Lookup("type").StringValueOK()
		if name == "" || kind == "view" || kind == "timeseries" || strings.HasPrefix(name, "system.") &&
			!strings.HasPrefix(name, "system.buckets.") {
			return nil
		}
		out = append(out, topology.Namespace(db+"."+name))
		return nil
	})
	return out, err
}
