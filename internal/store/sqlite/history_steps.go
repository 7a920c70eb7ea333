package sqlite

import (
	"context"
	"database/sql"
	"time"

	"shardboard/internal/store"
)

// HistoryBetween returns the entries of a time span.
func (db *DB) HistoryBetween(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) ([]store.HistoryEntry, error) {
	lo, hi := bounds(from, to)
	rows, err := db.read.QueryContext(ctx, `SELECT seq, stream, at, whole, body FROM history
		WHERE cluster = ? AND stream >= ? AND stream < ? AND at >= ? AND at < ? ORDER BY at, seq LIMIT ?`,
		cluster, prefix, prefix+"\U0010ffff", lo, hi, limit)
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var out []store.HistoryEntry
	for rows.Next() {
		var e store.HistoryEntry
		var ms int64
		if err := rows.Scan(&e.Seq, &e.Stream, &ms, (*flag)(&e.Whole), &e.Body); err != nil {
			return nil, unavailable(err)
		}
		e.At = stamped(ms)
		out = append(out, e)
	}
	return out, unavailable(rows.Err())
}

// HistoryStep returns the time of the entry before or after a time.
func (db *DB) HistoryStep(ctx context.Context, cluster, prefix string, at time.Time, forward bool) (time.Time, error) {
	query := `SELECT max(at) FROM history WHERE cluster = ? AND stream >= ? AND stream < ? AND at < ?`
	if forward {
		query = `SELECT min(at) FROM history WHERE cluster = ? AND stream >= ? AND stream < ? AND at > ?`
	}
	var ms sql.NullInt64
	err := db.read.QueryRowContext(ctx, query, cluster, prefix, prefix+"\U0010ffff", at.UnixMilli()).Scan(&ms)
	if err != nil || !ms.Valid {
		return time.Time{}, unavailable(err)
	}
	return stamped(ms.Int64), nil
}
