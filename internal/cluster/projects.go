package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// The fields read of stored data. They are named one by one, so that secret
// keys, webhook addresses, password hashes, tokens and client metadata cannot
// come along, whatever a newer layout adds.
var (
	projectFields  = fields("_id", "name", "owner", "public_key", "created_at", "stats_documents_count", "stats_clients_count", "stats_updated_at")
	documentFields = fields("_id", "project_id", "key", "removed_at", "created_at", "updated_at", "server_seq")
	idFields       = fields("_id", "project_id", "doc_id", "key")
)

// Projects reads the projects of a database in the order of ids: all, or those
// whose id is greater than after.
func (c *Client) Projects(ctx context.Context, db string, after bson.ObjectID, full bool) ([]topology.ProjectRow, error) {
	filter := bson.D{}
	if !full {
		filter = bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}}}
	}
	cmd := find("projects", filter, projectFields, bson.E{Key: "sort", Value: bson.D{{Key: "_id", Value: int32(1)}}},
		bson.E{Key: "batchSize", Value: int32(1000)})
	var out []topology.ProjectRow
	r := read{what: "read the projects of " + quoted(db), privilege: "find on " + db + ".projects", batch: 5000}
	err := c.each(ctx, db, cmd, r, func(doc bson.Raw) error {
		if p, ok := decodeProject(doc); ok {
			out = append(out, p)
		}
		return nil
	})
	return out, err
}

func decodeProject(doc bson.Raw) (p topology.ProjectRow, ok bool) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "_id":
			p.ID, ok = identifier(&w)
		case "name":
			p.Name, _ = w.str()
		case "owner":
			p.Owner, _ = identifier(&w)
		case "public_key":
			p.PublicKey, _ = w.str()
		case "created_at":
			p.CreatedAt, _ = w.date()
		case "stats_documents_count":
			p.Documents = optional(&w)
		case "stats_clients_count":
			p.Clients = optional(&w)
		case "stats_updated_at":
			p.StatsAt, _ = w.date()
		}
	}
	return p, ok && !w.broken
}

// DocumentsByKey reads a project's Yorkie documents of a key: the living one
// and removed ones, whose keys can be used again. Both values are matched as
// they are. A project's documents are on one shard, which the filter tells.
func (c *Client) DocumentsByKey(ctx context.Context, db string, project bson.ObjectID, key string, limit int) ([]topology.DocumentRow, error) {
	filter := bson.D{
		{Key: "project_id", Value: bson.D{{Key: "$eq", Value: project}}},
		{Key: "key", Value: bson.D{{Key: "$eq", Value: key}}},
	}
	var out []topology.DocumentRow
	r := read{what: "read a document of " + quoted(db), privilege: "find on " + db + ".documents"}
	err := c.each(ctx, db, find("documents", filter, append(limited(limit), documentFields)...), r, func(doc bson.Raw) error {
		out = append(out, decodeDocument(doc))
		return nil
	})
	return out, err
}

func decodeDocument(doc bson.Raw) (d topology.DocumentRow) {
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "_id":
			d.ID, _ = identifier(&w)
		case "project_id":
			d.Project, _ = identifier(&w)
		case "key":
			d.Key, _ = w.str()
		case "removed_at":
			_, d.Removed = w.date()
		case "created_at":
			d.CreatedAt, _ = w.date()
		case "updated_at":
			d.UpdatedAt, _ = w.date()
		case "server_seq":
			d.ServerSeq, _ = w.number()
		}
	}
	return d
}

// ByID reads the documents of a collection that have an _id. Where _id is not
// the shard key all shards are asked, and several may have one: _id is unique
// per shard only.
func (c *Client) ByID(ctx context.Context, db, coll string, id bson.ObjectID, limit int) ([]topology.IDRow, error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: id}}}}
	var out []topology.IDRow
	r := read{what: "look an id up in " + quoted(db+"."+coll), privilege: "find on " + db + "." + coll}
	err := c.each(ctx, db, find(coll, filter, append(limited(limit), idFields)...), r, func(doc bson.Raw) error {
		var row topology.IDRow
		w := walk(doc)
		for w.next() {
			switch string(w.key) {
			case "_id":
				row.ID, _ = identifier(&w)
			case "project_id":
				row.Project, _ = identifier(&w)
			case "doc_id":
				row.Document, _ = identifier(&w)
			case "key":
				row.Key, _ = w.str()
			}
		}
		out = append(out, row)
		return nil
	})
	return out, err
}

// identifier reads an id: an ObjectID, or in very old rows its 24 hex digits.
func identifier(w *walker) (bson.ObjectID, bool) {
	if id, ok := w.objectID(); ok {
		return id, true
	}
	if s, ok := w.str(); ok {
		if id, err := bson.ObjectIDFromHex(s); err == nil {
			return id, true
		}
	}
	return bson.ObjectID{}, false
}

func optional(w *walker) *int64 {
	n, ok := w.number()
	if !ok {
		return nil
	}
	return &n
}
