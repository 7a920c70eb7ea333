package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
)

// ByReference reads the rows with a project id and an _id. If the shard key begins with
// the project, only the shards of that project are queried.
func (c *Client) ByReference(ctx context.Context, db string, f profile.RowFields, project, id bson.ObjectID,
	limit int) ([]placement.IDRow, error) {
	filter := bson.D{
		{Key: f.Project, Value: bson.D{{Key: "$eq", Value: project}}},
		{Key: "_id", Value: bson.D{{Key: "$eq", Value: id}}},
	}
	projection := fields("_id", f.Project, f.Document, f.Key)
	var out []placement.IDRow
	r := readOp{what: "look a reference up in " + quoted(db+"."+f.Collection), privilege: "find on " + db + "." + f.Collection}
	err := c.each(ctx, db, find(f.Collection, filter, append(singleBatch(limit), projection)...), r, func(doc bson.Raw) error {
		out = append(out, decodeRow(f, doc))
		return nil
	})
	return out, err
}

// decodeRow decodes the fields that determine a row's shard.
func decodeRow(f profile.RowFields, doc bson.Raw) (row placement.IDRow) {
	row.ID, row.StoredID, _ = placement.IDOf(shardkey.FieldOf(doc, "_id"))
	row.Project, row.StoredProject, _ = placement.IDOf(shardkey.FieldOf(doc, f.Project))
	row.Document, row.StoredDocument, _ = placement.IDOf(shardkey.FieldOf(doc, f.Document))
	key := shardkey.FieldOf(doc, f.Key)
	row.Key, _ = key.StringValueOK()
	row.StoredKey = placement.StoredOf(key)
	return row
}
