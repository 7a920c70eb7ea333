package mongodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/records"
)

var _ store.RowStore = (*DB)(nil)

const incomplete = "a copy or a restore into it did not complete."

// BeginLoad marks an empty store as unusable. A shardboard that starts meanwhile refuses it.
func (db *DB) BeginLoad(ctx context.Context) error {
	if err := db.Alone(ctx); err != nil {
		return err
	}
	if err := records.MustBeEmpty(ctx, tables{db}, db.Place()); err != nil {
		return err
	}
	_, err := db.collection(meta).UpdateOne(ctx, eq("_id", metaID), set("unusable", incomplete))
	return db.failed(ctx, err)
}

// LoadRows adds rows. It needs no transaction, because the store is unusable until EndLoad.
func (db *DB) LoadRows(ctx context.Context, t store.Table, rows []store.Row) error {
	err := transaction{db}.Insert(ctx, t, rows...)
	if err != nil {
		return db.failed(ctx, fmt.Errorf("insert into %s: %w", t.Name, err))
	}
	return nil
}

// documentsOf are rows as they are stored. The parts of their bodies are stored before.
func (db *DB) documentsOf(ctx context.Context, t store.Table, rows []store.Row) ([]any, error) {
	docs := make([]any, 0, len(rows))
	for _, row := range rows {
		d, err := db.documentOf(ctx, t, row)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func (db *DB) documentOf(ctx context.Context, t store.Table, row store.Row) (bson.D, error) {
	if len(row) != len(t.Columns) {
		return nil, fault.New(fault.Invalid, "A row of %s has %d columns instead of %d.", t.Name, len(row), len(t.Columns))
	}
	var d bson.D
	for i, c := range t.Columns {
		value := valueOf(c.Type, row[i])
		switch bytes, _ := value.([]byte); c.Type {
		case store.Body:
			b, err := db.putBody(ctx, bytes)
			if err != nil {
				return nil, err
			}
			value = b.Body
			if len(b.Parts) > 0 {
				d = append(d, bson.E{Key: "body_parts", Value: b.Parts})
			}
		default:
			if err := fits("A row of "+t.Name, bytes); err != nil {
				return nil, err
			}
		}
		d = append(d, bson.E{Key: fieldOf(t.Name, c.Name), Value: value})
	}
	return d, nil
}

// EndLoad sets the counters by what was loaded and makes the store usable.
func (db *DB) EndLoad(ctx context.Context) error {
	for counter, field := range map[string]string{"runs": "seq", "history": "_id", "audit_heads": "_id", "surveys": "n"} {
		last, err := db.greatest(ctx, counter, field)
		if err != nil {
			return db.failed(ctx, err)
		}
		if _, err := db.collection(counters).UpdateOne(ctx, eq("_id", counter), set("n", last), options.UpdateOne().SetUpsert(true)); err != nil {
			return db.failed(ctx, err)
		}
	}
	end, err := records.AuditEnd(ctx, transaction{db})
	if err != nil {
		return db.failed(ctx, err)
	}
	if _, err := db.collection(counters).UpdateOne(ctx, eq("_id", auditEnd), set("n", end.Seq, "hash", end.Hash)); err != nil {
		return db.failed(ctx, err)
	}
	_, err = db.collection(meta).UpdateOne(ctx, eq("_id", metaID),
		bson.D{{Key: "$unset", Value: eq("unusable", "")}, {Key: "$set", Value: eq("at", time.Now())}})
	if err != nil {
		return db.failed(ctx, err)
	}
	return db.rememberAuditEnd(ctx)
}

// greatest is the largest number in a field; 0 without documents.
func (db *DB) greatest(ctx context.Context, collection, field string) (int64, error) {
	d, err := db.collection(collection).FindOne(ctx, bson.D{},
		options.FindOne().SetSort(eq(field, -1)).SetProjection(eq(field, 1))).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, _ := d.Lookup(field).AsInt64OK()
	return n, nil
}
