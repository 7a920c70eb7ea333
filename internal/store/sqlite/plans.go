package sqlite

import (
	"context"
	"database/sql"
	"time"

	"shardboard/internal/store"
)

const planColumns = `id, cluster, by, kind, hash, made, expires, body`

func scanPlan(row scanner) (p store.PlanRecord, err error) {
	var made, expires int64
	err = row.Scan(&p.ID, &p.Cluster, &p.By, &p.Kind, &p.Hash, &made, &expires, &p.Body)
	p.Made, p.Expires = stamped(made), stamped(expires)
	return p, err
}

// UnrunPlans returns plans that were never run, newest first.
func (db *DB) UnrunPlans(ctx context.Context, cluster string, since time.Time, limit int) ([]store.PlanRecord, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT `+planColumns+` FROM plans WHERE made >= ? AND cluster = ?
		AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.plan = plans.id) ORDER BY made DESC LIMIT ?`, since.UnixMilli(), cluster, limit)
	return all(rows, err, scanPlan)
}

// DropPlans deletes old plans that were never run.
func (db *DB) DropPlans(ctx context.Context, before time.Time, limit int) (dropped int, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		forget := before.Add(store.PlanKept - store.PlanRemembered)
		if _, err := tx.ExecContext(ctx, `DELETE FROM removed_plans WHERE made < ?`, forget.UnixMilli()); err != nil {
			return unavailable(err)
		}
		old, err := tx.QueryContext(ctx, `SELECT id FROM plans WHERE made < ? AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.plan = plans.id)
			ORDER BY made LIMIT ?`, before.UnixMilli(), limit)
		ids, err := all(old, err, scanText)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO removed_plans SELECT id, made FROM plans WHERE id = ?`, id); err != nil {
				return unavailable(err)
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM plan_approvals WHERE plan = ?`, id); err != nil {
				return unavailable(err)
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM plans WHERE id = ?`, id); err != nil {
				return unavailable(err)
			}
		}
		dropped = len(ids)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return dropped, nil
}
