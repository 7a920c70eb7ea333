package sqlite

import (
	"context"
	"database/sql"

	"shardboard/internal/store"
)

// SaveAlerts applies a change of the stored alerts.
func (db *DB) SaveAlerts(ctx context.Context, cluster string, c store.AlertChange) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		for _, id := range c.Gone {
			if _, err := tx.ExecContext(ctx, `DELETE FROM alerts WHERE cluster = ? AND id = ?`, cluster, id); err != nil {
				return unavailable(err)
			}
		}
		for _, a := range c.Saved {
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO alerts VALUES (?, ?, ?, ?)`, cluster, a.ID, a.At.UnixMilli(), a.Body); err != nil {
				return unavailable(err)
			}
		}
		return nil
	})
}

// Alerts returns all stored alerts.
func (db *DB) Alerts(ctx context.Context, cluster string) ([]store.AlertRecord, error) {
	return listed(ctx, db, "alerts", func(scan func(...any) error) (a store.AlertRecord, err error) {
		var at int64
		err = scan(&a.ID, &at, &a.Body)
		a.At = stamped(at)
		return a, err
	}, `SELECT id, at, body FROM alerts WHERE cluster = ? ORDER BY id`, cluster)
}

// SaveDelivery replaces the last delivery of a target.
func (db *DB) SaveDelivery(ctx context.Context, cluster string, d store.Delivery, told ...store.AuditEntry) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			cluster, d.Target, d.At.UnixMilli(), d.Code, d.Status, d.Alerts, d.Test, d.Failed)
		if err != nil {
			return unavailable(err)
		}
		return db.appendAll(ctx, tx, told)
	})
}

// Deliveries returns the last of each target.
func (db *DB) Deliveries(ctx context.Context, cluster string) ([]store.Delivery, error) {
	return listed(ctx, db, "deliveries", func(scan func(...any) error) (d store.Delivery, err error) {
		var at int64
		err = scan(&d.Target, &at, &d.Code, &d.Status, &d.Alerts, (*flag)(&d.Test), &d.Failed)
		d.At = stamped(at)
		return d, err
	}, `SELECT target, at, code, status, alerts, test, failed FROM deliveries WHERE cluster = ? ORDER BY target`, cluster)
}
