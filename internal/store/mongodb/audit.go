package mongodb

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/records"
)

// auditEnd is the counter with number and hash of the last record. Every append changes it first, so
// appends of several replicas conflict there, and are repeated, before they read anything else. An
// append does not look at the records: if the last ones were deleted, their numbers are not used
// again, and the gap is found by every later check.
const auditEnd = "audit"

type auditEndDoc struct {
	ID   string `bson:"_id"`
	N    int64  `bson:"n"`
	Hash []byte `bson:"hash"`
}

// lastWritten is the last record that this process appended, or found at start.
type lastWritten struct {
	mu    sync.Mutex
	end   audit.Point
	known bool

	// Guarded by the write lock.
	pending *audit.Point // appended in the open transaction
	skip    bool         // the next number is taken by a record that no shardboard wrote
}

// begin is called when a transaction begins, committed after its commit.
func (w *lastWritten) begin() { w.pending = nil }

func (w *lastWritten) committed() {
	if w.pending == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end, w.known, w.skip = *w.pending, true, false
}

// errTaken repeats the transaction: the number of a new record was taken.
type errTaken struct{ error }

func (e errTaken) Unwrap() error                   { return e.error }
func (e errTaken) HasErrorLabel(label string) bool { return label == "TransientTransactionError" }

// nextRecord returns what the next record follows.
func (db *DB) nextRecord(ctx context.Context) (audit.Point, error) {
	var end auditEndDoc
	err := db.collection(counters).FindOneAndUpdate(ctx, eq("_id", auditEnd), bson.D{{Key: "$inc", Value: eq("n", int64(1))}},
		options.FindOneAndUpdate().SetReturnDocument(options.Before)).Decode(&end)
	gone := errors.Is(err, mongo.ErrNoDocuments)
	if err != nil && !gone {
		return audit.Point{}, err
	}
	if !gone && !db.written.skip {
		return audit.Point{Seq: end.N, Hash: end.Hash}, nil
	}
	last, err := records.AuditEnd(ctx, transaction{db})
	if err != nil {
		return audit.Point{}, err
	}
	if !gone { // the number stands above every record, the hash stays ours, so what follows does not link to a foreign record
		return audit.Point{Seq: max(end.N, last.Seq), Hash: end.Hash}, nil
	}
	if _, err := db.collection(counters).InsertOne(ctx, auditEndDoc{ID: auditEnd, N: last.Seq, Hash: last.Hash}); err != nil {
		return audit.Point{}, err
	}
	db.written.mu.Lock()
	defer db.written.mu.Unlock()
	if db.written.known && db.written.end.Seq > last.Seq {
		last = db.written.end // records were deleted together with the counter
	}
	return last, nil
}

// rememberAuditEnd reads where the record ends at start.
func (db *DB) rememberAuditEnd(ctx context.Context) error {
	end, err := records.AuditEnd(ctx, tables{db})
	if err != nil {
		return err
	}
	db.written.mu.Lock()
	defer db.written.mu.Unlock()
	db.written.end, db.written.known = end, true
	return nil
}

// AuditWritten is the last record of this process. Others may have appended more.
func (db *DB) AuditWritten(context.Context) (store.WrittenRecord, error) {
	db.written.mu.Lock()
	defer db.written.mu.Unlock()
	w := &db.written
	return store.WrittenRecord{Seq: w.end.Seq, Hash: bytes.Clone(w.end.Hash), Known: w.known}, nil
}

// number takes the next n numbers of a counter and returns the first, in a transaction.
func (db *DB) number(ctx context.Context, counter string, n int) (first int64, err error) {
	var d struct {
		N int64 `bson:"n"`
	}
	err = db.collection(counters).FindOneAndUpdate(ctx, eq("_id", counter), bson.D{{Key: "$inc", Value: eq("n", int64(n))}},
		options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&d)
	if err != nil {
		return 0, fault.Wrap(fault.Of(err), err, "The next number of %s cannot be taken.", counter)
	}
	return d.N - int64(n) + 1, nil
}
