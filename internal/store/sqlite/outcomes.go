package sqlite

import (
	"context"
	"database/sql"

	"shardboard/internal/store"
)

// SaveRunOutcome adds or replaces the measurements before and after a run.
func (db *DB) SaveRunOutcome(ctx context.Context, cluster string, o store.RunOutcome) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO run_outcomes VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (cluster, run) DO UPDATE SET at = excluded.at, open = excluded.open, body = excluded.body`,
			cluster, o.Run, o.At.UnixMilli(), o.Open, o.Body)
		return unavailable(err)
	})
}

// RunOutcome returns the measurements before and after a run.
func (db *DB) RunOutcome(ctx context.Context, cluster, run string) (store.RunOutcome, error) {
	o, err := scanOutcome(
		db.read.QueryRowContext(ctx, `SELECT run, at, open, body FROM run_outcomes WHERE cluster = ? AND run = ?`, cluster, run),
	)
	if err != nil {
		return store.RunOutcome{}, missing(err, "Nothing was measured of this run.")
	}
	return o, nil
}

// OpenRunOutcomes returns those that are still being measured.
func (db *DB) OpenRunOutcomes(ctx context.Context, cluster string) ([]store.RunOutcome, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT run, at, open, body FROM run_outcomes WHERE cluster = ? AND open = 1 ORDER BY run`, cluster)
	return readable(db, "run_outcomes", rows, err, scanOutcome)
}

func scanOutcome(row scanner) (o store.RunOutcome, err error) {
	var at int64
	err = row.Scan(&o.Run, &at, (*flag)(&o.Open), &o.Body)
	o.At = stamped(at)
	return o, err
}
