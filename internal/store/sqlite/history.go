package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"shardboard/internal/store"
)

// AppendHistory adds the entries and events of one moment.
func (db *DB) AppendHistory(ctx context.Context, cluster string, entries []store.HistoryEntry, events []store.HistoryEvent) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		for _, e := range entries {
			if _, err := tx.ExecContext(ctx, `INSERT INTO history (cluster, stream, at, whole, body) VALUES (?, ?, ?, ?, ?)`,
				cluster, e.Stream, e.At.UnixMilli(), e.Whole, e.Body); err != nil {
				return unavailable(err)
			}
		}
		for _, e := range events {
			done, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO history_events VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
				cluster, e.ID, e.At.UnixMilli(), e.What, e.NS, e.Shard, e.Failed, e.Details)
			if err != nil {
				return unavailable(err)
			}
			if n, err := done.RowsAffected(); err != nil || n == 0 {
				if err != nil {
					return unavailable(err)
				}
				continue // it was there, and is counted
			}
			if err := countEvent(ctx, tx, cluster, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// HistoryOf returns the entries from which a stream's state at a time is made.
func (db *DB) HistoryOf(ctx context.Context, cluster, stream string, at time.Time) ([]store.HistoryEntry, error) {
	var base int64
	err := db.read.QueryRowContext(ctx, `SELECT seq FROM history WHERE cluster = ? AND stream = ? AND at <= ? AND whole
		ORDER BY at DESC, seq DESC LIMIT 1`, cluster, stream, at.UnixMilli()).Scan(&base)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	rows, err := db.read.QueryContext(ctx, `SELECT seq, at, whole, body FROM history
		WHERE cluster = ? AND stream = ? AND at <= ? AND seq >= ? ORDER BY seq`, cluster, stream, at.UnixMilli(), base)
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var out []store.HistoryEntry
	for rows.Next() {
		e := store.HistoryEntry{Stream: stream}
		var ms int64
		if err := rows.Scan(&e.Seq, &ms, (*flag)(&e.Whole), &e.Body); err != nil {
			return nil, unavailable(err)
		}
		e.At = stamped(ms)
		out = append(out, e)
	}
	return out, unavailable(rows.Err())
}

// HistoryTimes returns the times of entries of streams with a prefix.
func (db *DB) HistoryTimes(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) ([]time.Time, error) {
	rows, err := db.read.QueryContext(ctx, `SELECT DISTINCT at FROM history
		WHERE cluster = ? AND stream >= ? AND stream < ? AND at >= ? AND at < ? ORDER BY at LIMIT ?`,
		cluster, prefix, prefix+"\U0010ffff", from.UnixMilli(), to.UnixMilli(), limit)
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var out []time.Time
	for rows.Next() {
		var ms int64
		if err := rows.Scan(&ms); err != nil {
			return nil, unavailable(err)
		}
		out = append(out, stamped(ms))
	}
	return out, unavailable(rows.Err())
}

// TrimHistory deletes what no state at or after before needs: of each stream, everything before its
// last full entry at that time.
func (db *DB) TrimHistory(ctx context.Context, cluster string, before time.Time) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		for _, statement := range []string{
			`DELETE FROM history WHERE cluster = ?1 AND at < ?2 AND seq < (SELECT max(b.seq) FROM history b
				WHERE b.cluster = ?1 AND b.stream = history.stream AND b.whole AND b.at <= ?2)`,
			`DELETE FROM history_events WHERE cluster = ?1 AND at < ?2`,
			`DELETE FROM history_watched WHERE cluster = ?1 AND until < ?2`,
		} {
			if _, err := tx.ExecContext(ctx, statement, cluster, before.UnixMilli()); err != nil {
				return unavailable(err)
			}
		}
		return trimCounts(ctx, tx, cluster, before)
	})
}
