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

type auditDoc struct {
	Seq   int64  `bson:"_id"`
	Entry []byte `bson:"entry"` // the canonical form that the hash covers
	Prev  []byte `bson:"prev"`
	Hash  []byte `bson:"hash"`
}

func beginHash() []byte { return audit.Begin() }

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

// Append adds an entry to the end of the chain.
func (db *DB) Append(ctx context.Context, e store.AuditEntry) (r store.AuditRecord, err error) {
	err = db.change(ctx, func(ctx context.Context) error {
		r, err = db.appendAudit(ctx, e)
		return err
	})
	return r, err
}

// appendAudit is Append within a transaction, so that a change and its audit entry are stored
// together.
func (db *DB) appendAudit(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error) {
	end, err := db.nextRecord(ctx)
	if err != nil {
		return store.AuditRecord{}, err
	}
	r, canonical, err := audit.Next(e, end.Seq, end.Hash)
	if err != nil {
		return store.AuditRecord{}, err
	}
	if _, err := db.collection("audit").InsertOne(ctx, auditDoc{r.Seq, canonical, r.Prev, r.Hash}); err != nil {
		if mongo.IsDuplicateKeyError(err) {
			db.written.skip = true
			err = errTaken{err}
		}
		return store.AuditRecord{}, err
	}
	if _, err := db.collection(counters).UpdateOne(ctx, eq("_id", auditEnd), set("n", r.Seq, "hash", r.Hash)); err != nil {
		return store.AuditRecord{}, err
	}
	db.written.pending = &audit.Point{Seq: r.Seq, Hash: r.Hash}
	return r, nil
}

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
	last, err := db.tableEnd(ctx)
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

// appendAll appends entries in order.
func (db *DB) appendAll(ctx context.Context, entries []store.AuditEntry) error {
	for _, e := range entries {
		if _, err := db.appendAudit(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// changeAudited makes a change together with its audit entry. The entry's place is taken first,
// because that is where replicas meet.
func (db *DB) changeAudited(ctx context.Context, e store.AuditEntry, f func(ctx context.Context) error) error {
	return db.change(ctx, func(ctx context.Context) error {
		if _, err := db.appendAudit(ctx, e); err != nil {
			return err
		}
		return f(ctx)
	})
}

// tableEnd is the last stored record.
func (db *DB) tableEnd(ctx context.Context) (audit.Point, error) {
	var d auditDoc
	err := db.collection("audit").FindOne(ctx, bson.D{}, options.FindOne().SetSort(eq("_id", -1))).Decode(&d)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return audit.Point{Hash: beginHash()}, nil
	case err != nil:
		return audit.Point{}, err
	}
	return audit.Point{Seq: d.Seq, Hash: d.Hash}, nil
}

// AuditRecords returns records in order.
func (db *DB) AuditRecords(ctx context.Context, after int64, limit int) ([]store.AuditRecord, error) {
	return db.auditRows(ctx, eq("$gt", after), 1, limit)
}

// AuditBefore returns records newest first.
func (db *DB) AuditBefore(ctx context.Context, before int64, limit int) ([]store.AuditRecord, error) {
	return db.auditRows(ctx, eq("$lt", before), -1, limit)
}

func (db *DB) auditRows(ctx context.Context, seq bson.D, order, limit int) (records []store.AuditRecord, err error) {
	if limit <= 0 {
		return nil, nil
	}
	docs, err := list[auditDoc](ctx, db, "audit", eq("_id", seq), options.Find().SetSort(eq("_id", order)).SetLimit(int64(limit)))
	for _, d := range docs {
		records = append(records, audit.Read(d.Seq, d.Entry, d.Prev, d.Hash))
	}
	return records, err
}

// AuditEnd returns number and hash of the last record.
func (db *DB) AuditEnd(ctx context.Context) (int64, []byte, error) {
	d, err := one[auditDoc](ctx, db, "audit", bson.D{}, options.FindOne().SetSort(eq("_id", -1)))
	if errors.Is(err, mongo.ErrNoDocuments) {
		return 0, nil, nil
	}
	return d.Seq, d.Hash, err
}

// rememberAuditEnd reads where the record ends at start.
func (db *DB) rememberAuditEnd(ctx context.Context) error {
	seq, hash, err := db.AuditEnd(ctx)
	if err != nil {
		return err
	}
	if seq == 0 {
		hash = beginHash()
	}
	db.written.mu.Lock()
	defer db.written.mu.Unlock()
	db.written.end, db.written.known = audit.Point{Seq: seq, Hash: hash}, true
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
