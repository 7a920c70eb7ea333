package cluster

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Collections lists a database's collections. nameOnly needs no lock on each of
// them. authorizedCollections is not asked for: to a user without the
// listCollections privilege it would answer with a part of the list, which
// nobody could tell from the whole.
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
