package sqlite

import (
	"bytes"
	"context"
	"math"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// written remembers the end of the audit record as this process last wrote it.
// Only this process writes the record, so a table that ends anywhere else was
// changed by another program. A transaction's appends are pending until it is
// committed. The turn of DB.change guards all fields.
type written struct {
	known   bool // false until the table could be read once
	end     audit.Point
	pending *audit.Point // appended in the transaction that is open
	unsure  *audit.Point // appended in a commit that failed: it may be in the table or not
}

// follow says where the next record goes: its number is seq+1, and prev is the
// hash that it is linked to. A record never builds on an end that this process
// did not write. Where the last records were deleted, their numbers are not used
// again: the gap stays in the table, and every later check finds it. Where a
// record was put in, the next one does not link to it. The alternative would be
// to refuse to append, but then one deleted row would keep everybody from signing
// in and every run from being stopped, exactly when people have to look.
func (w *written) follow(table audit.Point) (seq int64, prev []byte, err error) {
	w.settle(table)
	last := w.end
	if w.pending != nil {
		last = *w.pending
	}
	if !w.known && w.pending == nil || last.Equal(table) {
		return table.Seq, table.Hash, nil
	}
	if table.Seq == math.MaxInt64 {
		return 0, nil, fault.Wrap(fault.Unavailable, store.ErrAuditDamaged, "The audit table holds a record with the highest number there is, which this program did not write, so none can follow. Remove that record, or put the data back from a backup.")
	}
	return max(table.Seq, last.Seq), last.Hash, nil
}

// settle decides by the table whether a commit that gave an error took effect.
func (w *written) settle(table audit.Point) {
	if w.unsure != nil && w.unsure.Equal(table) {
		w.end = table
	}
	w.unsure = nil
}

// commit makes what was pending the end; failed says that the commit gave an
// error, so that it may or may not be in the table.
func (w *written) commit(failed bool) {
	switch {
	case w.pending == nil:
	case failed:
		w.unsure = w.pending
	default:
		w.known, w.end, w.unsure = true, *w.pending, nil
	}
	w.pending = nil
}

// AuditWritten is the end of the record as this process last wrote it. It waits
// for the transaction that is being written, so that a record which can be read
// is never beyond it.
func (db *DB) AuditWritten(ctx context.Context) (seq int64, hash []byte, known bool, err error) {
	if err := db.notLost(); err != nil {
		return 0, nil, false, err
	}
	if db.write == nil {
		return 0, nil, false, nil
	}
	if err := db.lockWrites(ctx); err != nil {
		return 0, nil, false, err
	}
	defer db.unlockWrites()
	w := &db.written
	if !w.known {
		table, err := tableEnd(ctx, db.read)
		if err != nil {
			return 0, nil, false, err
		}
		w.known, w.end = true, table
	}
	if w.unsure != nil { // the table says whether the failed commit took effect
		table, err := tableEnd(ctx, db.read)
		if err != nil {
			return 0, nil, false, err
		}
		w.settle(table)
	}
	return w.end.Seq, w.end.Hash, true, nil
}

// tableEnd is the last record of the table, as a point.
func tableEnd(ctx context.Context, q queryer) (audit.Point, error) {
	seq, hash, err := auditEnd(ctx, q)
	if err != nil {
		return audit.Point{}, err
	}
	if hash == nil {
		hash = audit.Begin()
	}
	return audit.Point{Seq: seq, Hash: bytes.Clone(hash)}, nil
}

// enter waits for the turn to write; leave gives it to the next.
func (db *DB) lockWrites(ctx context.Context) error {
	select {
	case db.writeLock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (db *DB) unlockWrites() { <-db.writeLock }

// begun reads where the record ends when the process starts. That it cannot be
// read now stops nothing: the keeper says so, and it is read again before use.
func (db *DB) readAuditEnd(ctx context.Context) {
	if end, err := tableEnd(ctx, db.read); err == nil {
		db.written.known, db.written.end = true, end
	}
}

// appended notes what a transaction has put into the table.
func (db *DB) appended(r store.AuditRecord) {
	db.written.pending = &audit.Point{Seq: r.Seq, Hash: r.Hash}
}
