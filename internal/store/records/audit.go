package records

import (
	"context"
	"errors"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// auditRow is an audit record as it is stored: its entry in the canonical form that the hash covers.
type auditRow struct {
	Seq               int64
	Entry, Prev, Hash []byte
}

var auditRows = tableOf("audit", func(_ *string, r *auditRow) []any { return []any{&r.Seq, &r.Entry, &r.Prev, &r.Hash} })

// Append adds an entry to the end of the chain.
func (r Records) Append(ctx context.Context, e store.AuditEntry) (added store.AuditRecord, err error) {
	err = r.db.Change(ctx, func(ctx context.Context, tx Tx) error {
		added, err = tx.Append(ctx, e)
		return err
	})
	return added, err
}

// AddAuditRecord stores the record that follows a point of the chain.
func AddAuditRecord(ctx context.Context, tx Tx, e store.AuditEntry, after audit.Point) (store.AuditRecord, error) {
	r, canonical, err := audit.Next(e, after.Seq, after.Hash)
	if err != nil {
		return store.AuditRecord{}, err
	}
	return r, tx.Insert(ctx, auditRows.Table, auditRows.row("", auditRow{r.Seq, canonical, r.Prev, r.Hash}))
}

// AuditEnd is the last record of the table; the begin of the chain if there is none.
func AuditEnd(ctx context.Context, from Reader) (audit.Point, error) {
	last, err := one(ctx, from, auditRows, nil, "-seq")
	if errors.Is(err, ErrNone) {
		return audit.Point{Hash: audit.Begin()}, nil
	}
	return audit.Point{Seq: last.Seq, Hash: last.Hash}, err
}

// AuditEnd returns number and hash of the last record.
func (r Records) AuditEnd(ctx context.Context) (int64, []byte, error) {
	end, err := AuditEnd(ctx, r.db)
	if end.Seq == 0 {
		end.Hash = nil
	}
	return end.Seq, end.Hash, err
}

// AuditRecords returns records in order.
func (r Records) AuditRecords(ctx context.Context, after int64, limit int) ([]store.AuditRecord, error) {
	return r.auditList(ctx, auditRows.and(nil, "seq", ">", after), limit, "seq")
}

// AuditBefore returns records newest first.
func (r Records) AuditBefore(ctx context.Context, before int64, limit int) ([]store.AuditRecord, error) {
	return r.auditList(ctx, auditRows.and(nil, "seq", "<", before), limit, "-seq")
}

func (r Records) auditList(ctx context.Context, where Where, limit int, order string) (out []store.AuditRecord, err error) {
	if limit <= 0 {
		return nil, nil
	}
	found, err := list(ctx, r.db, auditRows, where, limit, order)
	for _, x := range found {
		out = append(out, audit.Read(x.Seq, x.Entry, x.Prev, x.Hash))
	}
	return out, err
}
