package sqlite

import (
	"context"
	"database/sql"
	"time"

	"shardboard/internal/store"
)

// ResetSeals ends what was sealed by another key.
func (db *DB) ResetSeals(ctx context.Context, r store.SealReset) (done bool, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO settings VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at WHERE value <> excluded.value`,
			r.Setting, r.Value, time.Now().UnixMilli())
		if err != nil {
			return unavailable(err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return unavailable(err)
		}
		done = true
		if _, err := tx.ExecContext(ctx, `DELETE FROM sessions`); err != nil {
			return unavailable(err)
		}
		rows, err := tx.QueryContext(ctx, approvalColumns)
		list, err := readable(db, "plan_approvals", rows, err, scanApproval)
		if err != nil {
			return err
		}
		for _, a := range list {
			if seal, keep := r.Approval(a); keep {
				_, err = tx.ExecContext(ctx, `UPDATE plan_approvals SET seal = ? WHERE plan = ?`, seal, a.Plan)
			} else {
				_, err = tx.ExecContext(ctx, `DELETE FROM plan_approvals WHERE plan = ?`, a.Plan)
			}
			if err != nil {
				return unavailable(err)
			}
		}
		_, err = db.appendAudit(ctx, tx, r.Entry)
		return err
	})
	return done && err == nil, err
}
