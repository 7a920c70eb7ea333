package sqlite

import (
	"context"
	"math"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/records"
)

// written is the end of the audit record as this process last wrote it. No other process writes the
// record, so a table that ends elsewhere was changed by another program. Appends are pending until
// their transaction is committed. The write lock of DB.change guards all fields.
type written struct {
	known   bool // false until the table could be read once
	end     audit.Point
	pending *audit.Point // appended in the open transaction
	unsure  *audit.Point // appended by a failed commit, which may or may not be in the table
}

// follow returns what the next record follows: its number is one more, and it links to the hash. It never
// builds on an end that this process did not write. If the last records were deleted, their numbers
// are not reused: the gap stays and every later check finds it. If a record was inserted, the next
// one does not link to it. Refusing to append instead would mean that one deleted row stops
// everybody from signing in and every run from being stopped, just when people must investigate.
func (w *written) follow(table audit.Point) (audit.Point, error) {
	w.settle(table)
	last := w.end
	if w.pending != nil {
		last = *w.pending
	}
	if !w.known && w.pending == nil || last.Equal(table) {
		return table, nil
	}
	if table.Seq == math.MaxInt64 {
		return audit.Point{}, fault.Wrap(fault.Unavailable, store.ErrAuditDamaged,
			"The audit table holds a record with the highest number there is, which this program did not write, so no record can follow. "+
				"Remove that record, or restore the data from a backup.")
	}
	return audit.Point{Seq: max(table.Seq, last.Seq), Hash: last.Hash}, nil
}

// settle uses the table to decide whether a failed commit took effect.
func (w *written) settle(table audit.Point) {
	if w.unsure != nil && w.unsure.Equal(table) {
		w.end = table
	}
	w.unsure = nil
}

// commit makes the pending point the end. failed means that the commit returned an error and may or
// may not be in the table.
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

// AuditWritten is the end of the record as this process last wrote it. It waits for the current
// write, so a record that can be read is never beyond it.
func (db *DB) AuditWritten(ctx context.Context) (store.WrittenRecord, error) {
	if err := db.notLost(); err != nil {
		return store.WrittenRecord{}, err
	}
	if db.write == nil {
		return store.WrittenRecord{}, nil
	}
	if err := db.lockWrites(ctx); err != nil {
		return store.WrittenRecord{}, err
	}
	defer db.unlockWrites()
	w := &db.written
	if !w.known {
		table, err := records.AuditEnd(ctx, reader{db, db.read})
		if err != nil {
			return store.WrittenRecord{}, err
		}
		w.known, w.end = true, table
	}
	if w.unsure != nil { // read from the table whether the failed commit took effect
		table, err := records.AuditEnd(ctx, reader{db, db.read})
		if err != nil {
			return store.WrittenRecord{}, err
		}
		w.settle(table)
	}
	return store.WrittenRecord{Seq: w.end.Seq, Hash: w.end.Hash, Known: true, Last: true}, nil
}

// lockWrites waits for the write lock, unlockWrites releases it.
func (db *DB) lockWrites(ctx context.Context) error {
	select {
	case db.writeLock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (db *DB) unlockWrites() { <-db.writeLock }

// readAuditEnd reads where the record ends at start. A failure is not an error: the keeper reports it,
// and it is read again before use.
func (db *DB) readAuditEnd(ctx context.Context) {
	if end, err := records.AuditEnd(ctx, reader{db, db.read}); err == nil {
		db.written.known, db.written.end = true, end
	}
}
