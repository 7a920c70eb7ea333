package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// SaveSurvey writes or replaces a survey.
func (db *DB) SaveSurvey(ctx context.Context, cluster string, s store.Survey, told ...store.AuditEntry) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO surveys VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (cluster, id) DO UPDATE SET at = excluded.at, head = excluded.head, body = excluded.body`,
			cluster, s.ID, s.At.UnixMilli(), s.Head, s.Body)
		if err != nil {
			return unavailable(err)
		}
		return db.appendAll(ctx, tx, told)
	})
}

// SurveyHeads returns surveys without their bodies, newest first.
func (db *DB) SurveyHeads(ctx context.Context, cluster string, limit int) ([]store.Survey, error) {
	rows, err := db.read.QueryContext(
		ctx,
		`SELECT id, at, head FROM surveys WHERE cluster = ? ORDER BY at DESC, rowid DESC LIMIT ?`,
		cluster,
		limit,
	)
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var out []store.Survey
	for rows.Next() {
		var s store.Survey
		var at int64
		if err := rows.Scan(&s.ID, &at, &s.Head); err != nil {
			return nil, unavailable(err)
		}
		s.At = stamped(at)
		out = append(out, s)
	}
	return out, unavailable(rows.Err())
}

// SurveyBody returns a survey's body.
func (db *DB) SurveyBody(ctx context.Context, cluster, id string) ([]byte, error) {
	var body []byte
	err := db.read.QueryRowContext(ctx, `SELECT body FROM surveys WHERE cluster = ? AND id = ?`, cluster, id).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fault.New(fault.NotFound, "This survey is not kept any more.")
	}
	return body, unavailable(err)
}

// DropSurvey deletes a survey.
func (db *DB) DropSurvey(ctx context.Context, cluster, id string) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM surveys WHERE cluster = ? AND id = ?`, cluster, id)
		return unavailable(err)
	})
}
