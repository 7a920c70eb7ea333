package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// notLost is an error when the path no longer leads to the open files.
func (db *DB) notLost() error {
	if db.place == nil {
		return nil
	}
	if c := db.Look(); c.Lost() {
		return c.Err
	}
	return nil
}

// warm opens all connections of a pool, which keeps them: they can still read the open files when
// the directory is lost.
func warm(ctx context.Context, pool *sql.DB, connections int) error {
	var open []*sql.Conn
	var errs []error
	for range connections {
		c, err := pool.Conn(ctx)
		if err != nil {
			errs = append(errs, err)
			break
		}
		open = append(open, c)
		var n int // a read opens the WAL files too
		errs = append(errs, c.QueryRowContext(ctx, `SELECT count(*) FROM migrations`).Scan(&n))
	}
	for _, c := range open {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
