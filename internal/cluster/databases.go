package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// databaseFields are the fields of config.databases that are read.
var databaseFields = fields("_id", "primary", "version.uuid", "version.lastMod")

// decodeDatabase decodes a row of config.databases; false for one without a name.
func (c *Client) decodeDatabase(ctx context.Context, doc bson.Raw) (d topology.Database, ok bool) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "_id":
			d.Name, _ = w.str()
		case "primary":
			if id, ok := w.uuid(); ok {
				d.Primary = c.shardByID(ctx, id)
			} else {
				d.Primary, _ = w.str()
			}
		case "version":
			if version, ok := w.doc(); ok {
				d.Version = decodeDatabaseVersion(version)
			}
		}
	}
	return d, !w.broken && d.Name != ""
}

func decodeDatabaseVersion(doc bson.Raw) (v topology.DatabaseVersion) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "uuid":
			v.UUID, _ = w.uuid()
		case "lastMod":
			v.LastMod, _ = w.number()
		}
	}
	return v
}

// database reads one database; nil when it has no row.
func (c *Client) database(ctx context.Context, name string) (found *topology.Database, err error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: name}}}}
	cmd := find("databases", filter, append(singleBatch(1), databaseFields, withMajority)...)
	err = c.each(ctx, "config", cmd, findOn("databases", "read the database"), func(doc bson.Raw) error {
		if d, ok := c.decodeDatabase(ctx, doc); ok {
			found = &d
		}
		return nil
	})
	return found, err
}
