package records

import (
	"context"

	"shardboard/internal/store"
)

// head is a signed head with its place in the order of signing.
type head struct {
	N int64
	store.AuditHead
}

var heads = tableOf("audit_heads", func(_ *string, h *head) []any {
	return []any{&h.N, &h.Seq, &h.Hash, &h.At, &h.Key, &h.Signature}
})

// SaveHead stores a signed head.
func (r Records) SaveHead(ctx context.Context, h store.AuditHead) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		n, err := tx.Number(ctx, heads.Table, "n", 1)
		if err != nil {
			return err
		}
		return tx.Insert(ctx, heads.Table, heads.row("", head{n, h}))
	})
}

// LastHead returns the newest signed head; nil if there is none.
func (r Records) LastHead(ctx context.Context) (*store.AuditHead, error) {
	h, err := one(ctx, r.db, heads, nil, "-n")
	if err != nil {
		return nil, or(err, nil)
	}
	return &h.AuditHead, nil
}

// AuditHeads returns heads in the order of signing.
func (r Records) AuditHeads(ctx context.Context, skip, limit int) (out []store.AuditHead, err error) {
	q := heads.all(nil, "n")
	q.Skip, q.Limit, q.Strict = skip, limit, true
	found, err := find(ctx, r.db, heads, q)
	for _, h := range found {
		out = append(out, h.AuditHead)
	}
	return out, err
}
