package cluster

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Projects reads the projects of a database in id order: all, or those whose id is
// greater than after. Only named fields are projected, so that secret keys, webhook
// addresses, password hashes, tokens and client metadata are never read, even in newer
// layouts. If rows without a usable id were skipped, a *topology.SkippedError is
// returned together with the others.
func (c *Client) Projects(ctx context.Context, db string, f profile.ProjectFields, after bson.ObjectID,
	full bool) ([]placement.ProjectRow, error) {
	if f.Collection == "" {
		return nil, nil
	}
	filter := bson.D{}
	if !full {
		filter = bson.D{{Key: f.IDField(), Value: bson.D{{Key: "$gt", Value: after}}}}
	}
	projection := fields("_id", f.ID, f.Name, f.Owner, f.PublicKey, f.CreatedAt, f.Documents, f.Clients, f.CountedAt)
	cmd := find(f.Collection, filter, projection, bson.E{Key: "sort", Value: bson.D{{Key: f.IDField(), Value: int32(1)}}},
		bson.E{Key: "batchSize", Value: int32(1000)})
	var out []placement.ProjectRow
	skipped := skipping(db + "." + f.Collection)
	r := readOp{what: "read the projects of " + quoted(db), privilege: "find on " + db + "." + f.Collection, batch: 5000}
	err := c.each(ctx, db, cmd, r, func(doc bson.Raw) error {
		if p, ok := decodeProject(f, doc); ok {
			out = append(out, p)
		} else {
			skipped.add(errors.New("the " + f.IDField() + " of a row cannot be an id"))
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	return out, skipped.err()
}

func decodeProject(f profile.ProjectFields, doc bson.Raw) (p placement.ProjectRow, ok bool) {
	p.ID, p.Stored, ok = placement.IDOf(shardkey.FieldOf(doc, f.IDField()))
	p.Name, _ = shardkey.FieldOf(doc, f.Name).StringValueOK()
	p.Owner, _, _ = placement.IDOf(shardkey.FieldOf(doc, f.Owner))
	p.PublicKey, _ = shardkey.FieldOf(doc, f.PublicKey).StringValueOK()
	p.CreatedAt, _ = dateOf(doc, f.CreatedAt)
	p.Documents = optional(doc, f.Documents)
	p.Clients = optional(doc, f.Clients)
	p.StatsAt, _ = dateOf(doc, f.CountedAt)
	return p, ok && doc.Validate() == nil
}

// DocumentsByKey reads the documents with a key in a project: the current one and
// removed ones, whose keys can be reused. Values are compared literally. If the shard
// key begins with the project, the query targets one shard.
func (c *Client) DocumentsByKey(ctx context.Context, db string, f profile.DocumentFields, project bson.RawValue,
	key string, limit int) ([]placement.DocumentRow, error) {
	filter := bson.D{
		{Key: f.Project, Value: bson.D{{Key: "$eq", Value: project}}},
		{Key: f.Key, Value: equals(f, key)},
	}
	projection := fields("_id", f.Project, f.Key, f.RemovedAt, f.CreatedAt, f.UpdatedAt, f.Seq)
	var out []placement.DocumentRow
	r := readOp{what: "read a document of " + quoted(db), privilege: "find on " + db + "." + f.Collection}
	err := c.each(ctx, db, find(f.Collection, filter, append(singleBatch(limit), projection)...), r, func(doc bson.Raw) error {
		out = append(out, decodeDocument(f, doc))
		return nil
	})
	return out, err
}

// DocumentsByKeyIn reads the documents with one of the keys in any of the projects, removed ones too. An
// index that begins with project and key serves it by one seek for each pair; if the shard key begins with
// the project, only shards that own these projects are queried. The context's deadline is sent as maxTimeMS.
func (c *Client) DocumentsByKeyIn(ctx context.Context, db string, f profile.DocumentFields, projects []bson.RawValue,
	keys []string, limit int) ([]placement.DocumentRow, error) {
	filter := bson.D{
		{Key: f.Project, Value: bson.D{{Key: "$in", Value: projects}}},
		{Key: f.Key, Value: among(f, keys)},
	}
	projection := fields("_id", f.Project, f.Key, f.RemovedAt)
	var out []placement.DocumentRow
	r := readOp{what: "search the documents of " + quoted(db) + " for a key", privilege: "find on " + db + "." + f.Collection}
	err := c.each(ctx, db, find(f.Collection, filter, append(singleBatch(limit), projection)...), r, func(doc bson.Raw) error {
		out = append(out, decodeDocument(f, doc))
		return nil
	})
	return out, err
}

func decodeDocument(f profile.DocumentFields, doc bson.Raw) (d placement.DocumentRow) {
	d.ID, d.Stored, _ = placement.IDOf(shardkey.FieldOf(doc, "_id"))
	d.Project, _, _ = placement.IDOf(shardkey.FieldOf(doc, f.Project))
	key := shardkey.FieldOf(doc, f.Key)
	d.Key, _ = key.StringValueOK()
	d.StoredKey = placement.StoredOf(key)
	if id, stored, ok := placement.IDOf(key); ok && f.AnyType {
		d.Key = stored.Text(id) // as people write it
	}
	_, d.Removed = dateOf(doc, f.RemovedAt)
	d.CreatedAt, _ = dateOf(doc, f.CreatedAt)
	d.UpdatedAt, _ = dateOf(doc, f.UpdatedAt)
	d.ServerSeq, _ = topology.Amount(shardkey.FieldOf(doc, f.Seq))
	return d
}

// ByID reads the rows with an _id. If _id is not the shard key, all shards are queried
// and several may have such a row, because _id is unique per shard only.
func (c *Client) ByID(ctx context.Context, db string, f profile.RowFields, id bson.ObjectID, limit int) ([]placement.IDRow, error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: id}}}}
	projection := fields("_id", f.Project, f.Document, f.Key)
	var out []placement.IDRow
	r := readOp{what: "look an id up in " + quoted(db+"."+f.Collection), privilege: "find on " + db + "." + f.Collection}
	err := c.each(ctx, db, find(f.Collection, filter, append(singleBatch(limit), projection)...), r, func(doc bson.Raw) error {
		out = append(out, decodeRow(f, doc))
		return nil
	})
	return out, err
}

// equals is the condition for a document's key. Yorkie's are text; others can be what the text says too.
func equals(f profile.DocumentFields, key string) bson.D {
	if !f.AnyType {
		return bson.D{{Key: "$eq", Value: key}}
	}
	return bson.D{{Key: "$in", Value: placement.KeyValues(key)}}
}

func among(f profile.DocumentFields, keys []string) bson.D {
	if !f.AnyType {
		return bson.D{{Key: "$in", Value: keys}}
	}
	var values []bson.RawValue
	for _, key := range keys {
		values = append(values, placement.KeyValues(key)...)
	}
	return bson.D{{Key: "$in", Value: values}}
}

func optional(doc bson.Raw, path string) *int64 {
	n, ok := topology.Amount(shardkey.FieldOf(doc, path))
	if !ok {
		return nil
	}
	return &n
}

// dateOf is a date in UTC; false for another type.
func dateOf(doc bson.Raw, path string) (time.Time, bool) {
	at, ok := shardkey.FieldOf(doc, path).TimeOK()
	return at.UTC(), ok
}
