package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"shardboard/internal/fault"
)

// Setting returns a value.
func (db *DB) Setting(ctx context.Context, name string) (string, error) {
	var value string
	err := db.read.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = ?`, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fault.New(fault.NotFound, "The setting %s was never set.", name)
	}
	return value, unavailable(err)
}

// SetSetting replaces a value.
func (db *DB) SetSetting(ctx context.Context, name, value string) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO settings VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at`, name, value, time.Now().UnixMilli())
		return unavailable(err)
	})
}
