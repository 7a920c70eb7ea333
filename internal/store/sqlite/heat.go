package sqlite

import (
	"context"
	"database/sql"
	"time"

	"shardboard/internal/store"
)

// SaveHeat applies a change of the heat maps.
func (db *DB) SaveHeat(ctx context.Context, cluster string, c store.HeatChange) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		var failed error
		run := func(statement string, args ...any) {
			if failed == nil {
				_, failed = tx.ExecContext(ctx, statement, append([]any{cluster}, args...)...)
			}
		}
		for _, p := range c.GonePictures {
			run(`DELETE FROM heat_columns WHERE cluster = ? AND picture = ?`, p)
			run(`DELETE FROM heat_axes WHERE cluster = ? AND picture = ?`, p)
		}
		for _, g := range c.GoneColumns {
			run(
				`DELETE FROM heat_columns WHERE cluster = ? AND picture = ? AND at = ? AND step = ?`,
				g.Picture,
				g.At.UnixMilli(),
				g.Step.Milliseconds(),
			)
		}
		for _, g := range c.GoneAxes {
			run(`DELETE FROM heat_axes WHERE cluster = ? AND picture = ? AND id = ?`, g.Picture, g.ID)
		}
		for _, a := range c.Axes {
			run(`INSERT OR REPLACE INTO heat_axes VALUES (?, ?, ?, ?)`, a.Picture, a.ID, a.Body)
		}
		for _, n := range c.Columns {
			run(`INSERT OR REPLACE INTO heat_columns VALUES (?, ?, ?, ?, ?, ?)`, n.Picture, n.At.UnixMilli(), n.Step.Milliseconds(), n.Axis, n.Body)
		}
		return unavailable(failed)
	})
}

// LoadHeat returns everything stored about a cluster.
func (db *DB) LoadHeat(ctx context.Context, cluster string) ([]store.HeatAxis, []store.HeatColumn, error) {
	axes, err := db.heatAxes(ctx, cluster)
	if err != nil {
		return nil, nil, unavailable(err)
	}
	columns, err := db.heatColumns(ctx, cluster)
	return axes, columns, unavailable(err)
}

func (db *DB) heatAxes(ctx context.Context, cluster string) ([]store.HeatAxis, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT picture, id, body FROM heat_axes WHERE cluster = ?`, cluster)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []store.HeatAxis
	for rows.Next() {
		var a store.HeatAxis
		if err := rows.Scan(&a.Picture, &a.ID, &a.Body); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, rows.Err()
}

func (db *DB) heatColumns(ctx context.Context, cluster string) ([]store.HeatColumn, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT picture, at, step, axis, body FROM heat_columns
		WHERE cluster = ? ORDER BY picture, at, step DESC`, cluster)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []store.HeatColumn
	for rows.Next() {
		var c store.HeatColumn
		var at, step int64
		if err := rows.Scan(&c.Picture, &at, &step, &c.Axis, &c.Body); err != nil {
			return nil, err
		}
		c.At, c.Step = stamped(at), time.Duration(step)*time.Millisecond
		out = append(out, c)
	}
	return out, rows.Err()
}
