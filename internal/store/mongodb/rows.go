package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// within bounds a read by the store's time limit.
func (db *DB) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, db.o.Timeout)
}

// one returns the first document of a filter; mongo.ErrNoDocuments.
func one[T any](ctx context.Context, db *DB, collection string, filter bson.D, o ...options.Lister[options.FindOneOptions]) (out T,
	err error) {
	if err := db.state.down(db.o.Timeout); err != nil {
		return out, err
	}
	ctx, cancel := db.within(ctx)
	defer cancel()
	err = db.collection(collection).FindOne(ctx, filter, o...).Decode(&out)
	if err == nil || errors.Is(err, mongo.ErrNoDocuments) {
		db.state.worked()
		return out, err
	}
	return out, db.unreadableOr(ctx, err)
}

// list returns the documents of a filter, without those that cannot be read.
func list[T any](ctx context.Context, db *DB, collection string, filter bson.D, o ...options.Lister[options.FindOptions]) (out []T,
	err error) {
	open := func(ctx context.Context) (*mongo.Cursor, error) {
		return db.collection(collection).Find(ctx, filter, o...)
	}
	err = db.each(ctx, open, func(d bson.Raw) bool {
		var as T
		if err := bson.Unmarshal(d, &as); err != nil {
			db.leaveOut(collection, d, err)
		} else {
			out = append(out, as)
		}
		return true
	})
	return out, err
}

// each calls f for the documents of a cursor until it returns false. The time limit is for each
// answer of the server, not for all of them.
func (db *DB) each(ctx context.Context, open func(context.Context) (*mongo.Cursor, error), f func(bson.Raw) bool) error {
	if err := db.state.down(db.o.Timeout); err != nil {
		return err
	}
	first, cancel := db.within(ctx)
	defer cancel()
	cur, err := open(first)
	if err != nil {
		return db.failed(first, err)
	}
	defer cur.Close(context.WithoutCancel(ctx)) //nolint:errcheck // only the server's cursor is left
	next := func() bool {
		if cur.RemainingBatchLength() > 0 {
			return cur.Next(ctx)
		}
		ctx, cancel := db.within(ctx)
		defer cancel()
		return cur.Next(ctx)
	}
	for next() && f(cur.Current) {
	}
	if err := cur.Err(); err != nil {
		return db.failed(ctx, err)
	}
	db.state.worked()
	return nil
}

// unreadableOr classifies a failure to read one document: of the store, or of the document.
func (db *DB) unreadableOr(ctx context.Context, err error) error {
	if failed := db.failed(ctx, err); failed != err { //nolint:errorlint // unchanged: not recognised
		return failed
	}
	return fault.Wrap(fault.Unavailable, err, "A document of the store has a value that shardboard did not write. The log has the cause.")
}

// missing turns a missing document into NotFound.
func missing(err error, text string) error {
	if errors.Is(err, mongo.ErrNoDocuments) {
		return fault.New(fault.NotFound, "%s", text)
	}
	return err
}

func asServerError(err error) (mongo.ServerError, bool) {
	var e mongo.ServerError
	ok := errors.As(err, &e)
	return e, ok
}

// leaveOut counts a document that lists omit, and logs it once.
func (db *DB) leaveOut(collection string, d bson.Raw, err error) {
	if id, first := db.unreadable.Add(collection, fmt.Sprint(d.Lookup("_id"))); first {
		db.o.Log.Error("a document of the store is unreadable and is left out", "store", db.address, "collection", collection, "id", id,
			"err", err)
	}
}

// Unreadable returns how many unreadable documents were found in each collection since the start.
func (db *DB) Unreadable() []store.UnreadableRows { return db.unreadable.Count() }

// eq is a filter by fields: eq("cluster", c, "id", id).
func eq(fields ...any) bson.D {
	out := make(bson.D, 0, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		out = append(out, bson.E{Key: fields[i].(string), Value: fields[i+1]})
	}
	return out
}

func set(fields ...any) bson.D { return bson.D{{Key: "$set", Value: eq(fields...)}} }

// bytesOf is never nil, because a nil slice would be stored as null.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
