package sqlite

import (
	"context"
	"database/sql"
	"math"
	"time"

	"shardboard/internal/store"
)

// Events returns stored changelog entries.
func (db *DB) Events(ctx context.Context, cluster string, q store.HistoryEvents) ([]store.HistoryEvent, error) {
	order := "DESC"
	if q.Ascending {
		order = "ASC"
	}
	from, to := bounds(q.From, q.To)
	limit := q.Limit
	if q.Without != nil {
		limit = math.MaxInt32 // rows are read until there are enough
	}
	// Without statistics SQLite reads all entries of the time for one of a rare collection, so the index is named.
	by, where, args := "", "", []any{cluster, from, to}
	if q.OnlyFailed {
		by, where = " INDEXED BY history_events_failed", " AND failed"
	}
	if q.NS != "" {
		by, where, args = " INDEXED BY history_events_ns", where+" AND ns = ?", append(args, q.NS)
	}
	rows, err := db.read.QueryContext(ctx, `SELECT id, at, what, ns, shard, failed, details FROM history_events`+by+`
		WHERE cluster = ? AND at >= ? AND at < ?`+where+`
		ORDER BY at `+order+`, id `+order+` LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var out []store.HistoryEvent
	for len(out) < q.Limit && rows.Next() {
		var e store.HistoryEvent
		var ms int64
		if err := rows.Scan(&e.ID, &ms, &e.What, &e.NS, &e.Shard, (*flag)(&e.Failed), &e.Details); err != nil {
			return nil, unavailable(err)
		}
		e.At = stamped(ms)
		if q.Without == nil || !q.Without(e) {
			out = append(out, e)
		}
		if q.Enough != nil && q.Enough() {
			break
		}
	}
	return out, unavailable(rows.Err())
}

// bounds are the milliseconds of a span; zero times are open ends.
func bounds(from, to time.Time) (int64, int64) {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if !from.IsZero() {
		lo = from.UnixMilli()
	}
	if !to.IsZero() {
		hi = to.UnixMilli()
	}
	return lo, hi
}

// NoteWatched extends the last watched span or starts one.
func (db *DB) NoteWatched(ctx context.Context, cluster string, now time.Time, gap time.Duration) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE history_watched SET until = ?2 WHERE cluster = ?1 AND until >= ?3 AND until <= ?2
			AND since = (SELECT max(since) FROM history_watched WHERE cluster = ?1)`, cluster, now.UnixMilli(), now.Add(-gap).UnixMilli())
		if err != nil {
			return unavailable(err)
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return unavailable(err)
		}
		_, err = tx.ExecContext(ctx, `INSERT OR IGNORE INTO history_watched VALUES (?1, ?2, ?2)`, cluster, now.UnixMilli())
		return unavailable(err)
	})
}

// WatchedSpans returns the spans that overlap [from, to).
func (db *DB) WatchedSpans(ctx context.Context, cluster string, from, to time.Time) ([]store.Watched, error) {
	lo, hi := bounds(from, to)
	rows, err := db.read.QueryContext(ctx, `SELECT since, until FROM history_watched
		WHERE cluster = ? AND until >= ? AND since < ? ORDER BY since`, cluster, lo, hi)
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var out []store.Watched
	for rows.Next() {
		var since, until int64
		if err := rows.Scan(&since, &until); err != nil {
			return nil, unavailable(err)
		}
		out = append(out, store.Watched{From: stamped(since), To: stamped(until)})
	}
	return out, unavailable(rows.Err())
}
