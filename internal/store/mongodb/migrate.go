package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
)

// meta has one document: whose database it is, and which schema it has.
const (
	meta        = "meta"
	metaID      = "schema"
	application = "shardboard"
)

type metaDoc struct {
	ID          string    `bson:"_id"`
	Application string    `bson:"application"`
	Version     int       `bson:"version"` // migrations that are done; 0 while the first one runs
	Unusable    string    `bson:"unusable,omitempty"`
	At          time.Time `bson:"at"`
}

// migration brings a database to the next schema. It may be interrupted and run again, so it must do
// nothing that is done already.
type migration func(ctx context.Context, db *DB) error

// migrations are the steps to the schema of this program. A released step is never edited; a later
// one corrects it.
var migrations = []migration{
	makeCollections,
	makeIndexes(index{collection: "plan_approvals", fields: "plan", unique: true},
		index{collection: "plan_approvals", fields: "cluster state until"}),
	makeIndexes(), // programs that do not seal what they write must not write any more; seals come with the key
	makeIndexes(
		index{collection: "problems", fields: "cluster id since", unique: true},
		index{collection: "problems", fields: "cluster since"},
		index{collection: "problems_judged", fields: "cluster since", unique: true},
		index{collection: "takes", fields: "cluster id", unique: true}, // stores of an earlier schema may not have it
	),
	makeIndexes( // entries of one collection, and failures, are rare among millions
		index{collection: "history_events", fields: "cluster ns at id"},
		index{collection: "history_events", fields: "cluster failed at id", partial: bson.D{{Key: "failed", Value: true}}},
	),
}

// migrationTime bounds all steps of an upgrade.
const migrationTime = 5 * time.Minute

// prepare recognises the database, makes it if it is empty, and upgrades it.
func (db *DB) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, migrationTime)
	defer cancel()
	m, err := db.recognise(ctx)
	if err != nil {
		return db.failed(ctx, err)
	}
	want := len(db.o.migrations)
	switch {
	case m.Unusable != "":
		return fault.New(fault.Conflict, "The database %s cannot be used: %s Drop it and begin again.", db.address, m.Unusable)
	case m.Version > want:
		return newerSchema(m.Version, want)
	case m.Version == want:
		return nil
	case m.Version > 0: // a new one is made by all replicas at once; an old one is upgraded by its leader
		if err := db.leadToUpgrade(ctx); err != nil {
			return err
		}
	}
	for version := m.Version; version < want; version++ {
		if err := db.o.migrations[version](ctx, db); err != nil {
			return db.failed(ctx, fmt.Errorf("upgrade the store to schema %d: %w", version+1, err))
		}
		if err := db.reached(ctx, version+1); err != nil {
			return db.failed(ctx, err)
		}
	}
	return nil
}

func newerSchema(has, knows int) error {
	return fault.New(fault.Conflict,
		"A newer shardboard has written this store (schema %d; this one knows %d). Start that version or a later "+
			"one again, or restore a backup from before the upgrade; data never goes back to an older version.", has, knows)
}

// recognise reads the document that says whose database it is. It inserts it into an empty database
// and refuses one of another program.
func (db *DB) recognise(ctx context.Context) (metaDoc, error) {
	var m metaDoc
	err := db.collection(meta).FindOne(ctx, bson.D{{Key: "_id", Value: metaID}}).Decode(&m)
	if errors.Is(err, mongo.ErrNoDocuments) {
		if db.o.MustExist {
			return m, fault.New(fault.NotFound, "There is no shardboard data in %s.", db.address)
		}
		return db.found(ctx)
	}
	if err == nil && m.Version == 0 && db.o.MustExist {
		err = mongo.ErrNoDocuments
	}
	if err == nil && m.Application != application {
		return m, foreign(db.address, []string{meta})
	}
	return m, err
}

// found begins a store in a database without collections.
func (db *DB) found(ctx context.Context) (metaDoc, error) {
	names, err := db.data.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return metaDoc{}, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "system.") })
	// Another replica may have begun meanwhile: it makes the collection meta first.
	if len(names) > 0 && !slices.Contains(names, meta) {
		return metaDoc{}, foreign(db.address, names)
	}
	if len(names) > 0 {
		n, err := db.collection(meta).CountDocuments(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$ne", Value: metaID}}}})
		if err != nil {
			return metaDoc{}, err
		}
		if n > 0 {
			return metaDoc{}, foreign(db.address, names)
		}
	}
	_, err = db.collection(meta).UpdateOne(ctx, bson.D{{Key: "_id", Value: metaID}},
		bson.D{{Key: "$setOnInsert", Value: bson.D{{Key: "application", Value: application}, {Key: "version", Value: int32(0)},
			{Key: "at", Value: time.Now()}}}}, options.UpdateOne().SetUpsert(true))
	if err != nil && !mongo.IsDuplicateKeyError(err) {
		return metaDoc{}, err
	}
	var m metaDoc
	err = db.collection(meta).FindOne(ctx, bson.D{{Key: "_id", Value: metaID}}).Decode(&m)
	return m, err
}

func foreign(at Address, names []string) error {
	slices.Sort(names)
	more := ""
	if len(names) > 3 {
		names, more = names[:3], " and others"
	}
	return fault.New(fault.Invalid, "The database %s holds something else (%s%s), so shardboard does not touch it. "+
		"Name a database of its own in the path of the store's address.", at, strings.Join(names, ", "), more)
}

// reached records that a step is done.
func (db *DB) reached(ctx context.Context, version int) error {
	_, err := db.collection(meta).UpdateOne(ctx,
		bson.D{{Key: "_id", Value: metaID}, {Key: "version", Value: bson.D{{Key: "$lt", Value: version}}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "version", Value: int32(version)}, {Key: "at", Value: time.Now()}}}})
	return err
}

// leadToUpgrade waits for the lease. While an older replica leads, the schema cannot change under it. It
// leaves the lead to a server that shows its newer schema; a command is not worth that.
func (db *DB) leadToUpgrade(ctx context.Context) error {
	late := time.After(2 * db.o.Lease)
	for {
		if !db.o.Follow {
			if err := db.show(ctx); err != nil {
				return db.failed(ctx, err)
			}
		}
		l, err := db.readLease(ctx)
		if err != nil {
			return err
		}
		if db.free(l) {
			if took, err := db.take(ctx, l, len(db.o.migrations)); err != nil || took {
				return err
			}
		}
		select {
		case <-time.After(db.o.Lease / 10):
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return fault.New(fault.Conflict,
				"An older shardboard (%s) leads the store %s and has to end before this one can upgrade it.", l.Name, db.address)
		}
	}
}

// Check verifies that the store is complete: that it is still shardboard's, and has its collections
// and indexes. Missing ones are made again.
func (db *DB) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, migrationTime)
	defer cancel()
	m, err := db.recognise(ctx)
	if err != nil {
		return db.failed(ctx, err)
	}
	if m.Version > len(db.o.migrations) {
		err := newerSchema(m.Version, len(db.o.migrations))
		db.state.outdated(err)
		return err
	}
	for _, complete := range db.o.migrations {
		if err := complete(ctx, db); err != nil {
			return db.failed(ctx, err)
		}
	}
	db.checked.Store(true)
	return nil
}

// Checked reports whether Check succeeded since the start.
func (db *DB) Checked() bool { return db.checked.Load() }
