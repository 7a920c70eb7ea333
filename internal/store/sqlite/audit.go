package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// Append adds an entry to the end of the chain.
func (db *DB) Append(ctx context.Context, e store.AuditEntry) (r store.AuditRecord, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		r, err = db.appendAudit(ctx, tx, e)
		return err
	})
	return r, err
}

// appendAudit is Append within a transaction, so that a change and its audit entry are written
// together.
func (db *DB) appendAudit(ctx context.Context, tx *sql.Tx, e store.AuditEntry) (store.AuditRecord, error) {
	table, err := tableEnd(ctx, tx)
	if err != nil {
		return store.AuditRecord{}, err
	}
	seq, prev, err := db.written.follow(table)
	if err != nil {
		return store.AuditRecord{}, err
	}
	r, canonical, err := audit.Next(e, seq, prev)
	if err != nil {
		return store.AuditRecord{}, err
	}
	if _, err = tx.ExecContext(ctx, `INSERT INTO audit (seq, entry, prev, hash) VALUES (?, ?, ?, ?)`, r.Seq, canonical, r.Prev, r.Hash); err != nil {
		return store.AuditRecord{}, auditFailure(err)
	}
	db.appended(r)
	return r, nil
}

// appendAll appends entries in order.
func (db *DB) appendAll(ctx context.Context, tx *sql.Tx, entries []store.AuditEntry) error {
	for _, e := range entries {
		if _, err := db.appendAudit(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// AuditRecords returns records in order.
func (db *DB) AuditRecords(ctx context.Context, after int64, limit int) ([]store.AuditRecord, error) {
	return db.auditRows(ctx, `SELECT seq, entry, prev, hash FROM audit WHERE seq > ? ORDER BY seq LIMIT ?`, after, limit)
}

// AuditBefore returns records newest first.
func (db *DB) AuditBefore(ctx context.Context, before int64, limit int) ([]store.AuditRecord, error) {
	return db.auditRows(ctx, `SELECT seq, entry, prev, hash FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?`, before, limit)
}

func (db *DB) auditRows(ctx context.Context, query string, from int64, limit int) ([]store.AuditRecord, error) {
	rows, err := db.read.QueryContext(ctx, query, from, limit)
	if err != nil {
		return nil, auditFailure(err)
	}
	defer rows.Close()
	var out []store.AuditRecord
	for rows.Next() {
		var seq int64
		var entry, prev, hash []byte
		if err := rows.Scan(&seq, &entry, &prev, &hash); err != nil {
			return nil, auditFailure(err)
		}
		out = append(out, audit.Read(seq, entry, prev, hash))
	}
	return out, auditFailure(rows.Err())
}

// AuditEnd returns number and hash of the last record.
func (db *DB) AuditEnd(ctx context.Context) (int64, []byte, error) { return auditEnd(ctx, db.read) }

// queryer is a connection pool or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func auditEnd(ctx context.Context, q queryer) (seq int64, hash []byte, err error) {
	err = q.QueryRowContext(ctx, `SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1`).Scan(&seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, nil
	}
	return seq, hash, auditFailure(err)
}
