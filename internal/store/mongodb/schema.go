package mongodb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store/audit"
)

// bodyParts has the further parts of bodies that are too large for one document.
const bodyParts = "body_parts"

// counters has the last numbers given out, and the end of the audit record.
const counters = "counters"

// index is an index by the fields "a b -c", where - means descending.
type index struct {
	collection, fields string
	unique             bool
	partial            bson.D
}

// firstIndexes are those of schema 1. Unique ones stand for the primary keys and unique constraints
// of the SQLite schema; where a document's _id is the key, there is none.
var firstIndexes = []index{
	{collection: "users", fields: "name", unique: true},
	{collection: "users", fields: "break_glass", unique: true, partial: bson.D{{Key: "break_glass", Value: true}}},
	{collection: "sessions", fields: "hash", unique: true},
	{collection: "sessions", fields: "subject created"},
	{collection: "sessions", fields: "former_hash", unique: true,
		partial: bson.D{{Key: "former_hash", Value: bson.D{{Key: "$type", Value: "binData"}}}}},
	{collection: "tokens", fields: "hash", unique: true},
	{collection: "tokens", fields: "owner"},
	{collection: requests, fields: "cluster term made"},
	{collection: "plans", fields: "made"},
	{collection: "plans", fields: "cluster made"},
	{collection: "runs", fields: "plan", unique: true},
	{collection: "runs", fields: "seq", unique: true},
	{collection: "runs", fields: "cluster seq"},
	{collection: "runs", fields: "cluster open seq"},
	{collection: "intents", fields: "run step", unique: true},
	{collection: "removed_plans", fields: "made"},
	{collection: "history", fields: "cluster stream at _id whole"},
	{collection: "history", fields: "cluster at _id stream"},
	{collection: "history_events", fields: "cluster at id", unique: true},
	{collection: "history_watched", fields: "cluster since", unique: true},
	{collection: "history_event_minutes", fields: "cluster minute what ns failed", unique: true},
	{collection: "history_event_spans", fields: "cluster span part what ns failed", unique: true},
	{collection: "heat_axes", fields: "cluster picture id", unique: true},
	{collection: "heat_columns", fields: "cluster picture at -step", unique: true},
	{collection: "surveys", fields: "cluster id", unique: true},
	{collection: "surveys", fields: "cluster -at -n"},
	{collection: "holdings", fields: "cluster ns", unique: true},
	{collection: "run_outcomes", fields: "cluster run", unique: true},
	{collection: "run_outcomes", fields: "cluster open run"},
	{collection: "dismissals", fields: "cluster id", unique: true},
	{collection: "takes", fields: "cluster id", unique: true},
	{collection: "alerts", fields: "cluster id", unique: true},
	{collection: "silences", fields: "cluster id", unique: true},
	{collection: "deliveries", fields: "cluster target", unique: true},
	{collection: "watches", fields: "cluster by kind subject", unique: true},
}

func (x index) name() string {
	return strings.ReplaceAll(strings.ReplaceAll(x.fields, "-", ""), " ", "_")
}

func (x index) model() mongo.IndexModel {
	var keys bson.D
	for _, f := range strings.Fields(x.fields) {
		name, down := strings.CutPrefix(f, "-")
		order := int32(1)
		if down {
			order = -1
		}
		keys = append(keys, bson.E{Key: name, Value: order})
	}
	o := options.Index().SetName(x.name())
	if x.unique {
		o.SetUnique(true)
	}
	if x.partial != nil {
		o.SetPartialFilterExpression(x.partial)
	}
	return mongo.IndexModel{Keys: keys, Options: o}
}

// makeCollections makes the collections and indexes of schema 1.
func makeCollections(ctx context.Context, db *DB) error {
	if err := db.make(ctx, []string{leadership, replicas, counters, bodyParts, "settings", "audit", "audit_heads"}, firstIndexes); err != nil {
		return err
	}
	return db.firstDocuments(ctx)
}

// makeIndexes is a migration that makes indexes and their collections.
func makeIndexes(indexes ...index) migration {
	return func(ctx context.Context, db *DB) error { return db.make(ctx, nil, indexes) }
}

// make makes collections, and indexes with theirs. What exists is left, so that two replicas may do it at once.
func (db *DB) make(ctx context.Context, collections []string, indexes []index) error {
	models := map[string][]mongo.IndexModel{}
	for _, x := range indexes {
		collections, models[x.collection] = append(collections, x.collection), append(models[x.collection], x.model())
	}
	have, err := db.data.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return err
	}
	for _, name := range collections {
		if slices.Contains(have, name) {
			continue
		}
		// A transaction of 4.4 cannot make the collection that it writes to if another one does so too.
		if err := db.data.CreateCollection(ctx, name); err != nil && !isNamespaceExists(err) {
			return fmt.Errorf("create %s: %w", name, err)
		}
		have = append(have, name)
	}
	for name, of := range models {
		if _, err := db.collection(name).Indexes().CreateMany(ctx, of); err != nil {
			return fmt.Errorf("create the indexes of %s: %w", name, err)
		}
	}
	return nil
}

// firstDocuments inserts what every change updates, so that no change has to make it.
func (db *DB) firstDocuments(ctx context.Context) error {
	epoch := time.UnixMilli(0)
	for _, d := range []struct {
		collection string
		id         string
		fields     bson.D
	}{
		{leadership, leaseID, bson.D{{Key: "holder", Value: ""}, {Key: "name", Value: ""}, {Key: "token", Value: int64(0)},
			{Key: "since", Value: epoch}, {Key: "until", Value: epoch}, {Key: "schema", Value: int32(0)}}},
		{leadership, fenceID, bson.D{{Key: "token", Value: int64(0)}, {Key: "writes", Value: int64(0)}}},
		{counters, auditEnd, bson.D{{Key: "n", Value: int64(0)}, {Key: "hash", Value: audit.Begin()}}},
	} {
		_, err := db.collection(d.collection).UpdateOne(ctx, bson.D{{Key: "_id", Value: d.id}},
			bson.D{{Key: "$setOnInsert", Value: d.fields}}, options.UpdateOne().SetUpsert(true))
		if err != nil && !mongo.IsDuplicateKeyError(err) { // another replica inserted it
			return fmt.Errorf("prepare %s: %w", d.collection, err)
		}
	}
	return nil
}

func isNamespaceExists(err error) bool {
	const namespaceExists = 48
	return hasCode(err, namespaceExists)
}

func (db *DB) collection(name string) *mongo.Collection { return db.data.Collection(name) }
