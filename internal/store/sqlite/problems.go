package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"time"

	"shardboard/internal/store"
)

// SaveProblems adds or replaces times in which problems lasted.
func (db *DB) SaveProblems(ctx context.Context, cluster string, list []store.ProblemRecord) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		for _, r := range list {
			var until any
			if !r.Until.IsZero() {
				until = r.Until.UnixMilli()
			}
			_, err := tx.ExecContext(ctx, `INSERT INTO problems VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (cluster, id, since) DO UPDATE SET until = excluded.until, body = excluded.body`,
				cluster, r.ID, r.Since.UnixMilli(), until, r.Body)
			if err != nil {
				return unavailable(err)
			}
		}
		return nil
	})
}

// ProblemRecords returns the times in which problems lasted.
func (db *DB) ProblemRecords(ctx context.Context, cluster string, from, to time.Time) ([]store.ProblemRecord, error) {
	lo, hi := bounds(from, to)
	return listed(ctx, db, "problems", func(scan func(...any) error) (r store.ProblemRecord, err error) {
		var since int64
		var until sql.NullInt64
		err = scan(&r.ID, &since, &until, &r.Body)
		if r.Since = stamped(since); until.Valid {
			r.Until = stamped(until.Int64)
		}
		return r, err
	}, `SELECT id, since, until, body FROM problems INDEXED BY problems_until WHERE cluster = ?1 AND until >= ?3 AND since <= ?2
		UNION ALL SELECT id, since, until, body FROM problems INDEXED BY problems_until WHERE cluster = ?1 AND until IS NULL AND since <= ?2
		ORDER BY since DESC, id`, cluster, hi, lo)
}

// NoteJudged extends the last span or starts one.
func (db *DB) NoteJudged(ctx context.Context, cluster string, now time.Time, gap time.Duration, body []byte) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		var last []byte
		err := tx.QueryRowContext(ctx, `UPDATE problems_judged SET until = ?2 WHERE cluster = ?1 AND until >= ?3 AND until <= ?2
			AND since = (SELECT max(since) FROM problems_judged WHERE cluster = ?1) RETURNING body`,
			cluster, now.UnixMilli(), now.Add(-gap).UnixMilli()).Scan(&last)
		switch {
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return unavailable(err)
		case err == nil && bytes.Equal(last, body):
			return nil
		}
		_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO problems_judged VALUES (?1, ?2, ?2, ?3)`, cluster, now.UnixMilli(), body)
		return unavailable(err)
	})
}

// JudgedSpans returns when problems were looked for.
func (db *DB) JudgedSpans(ctx context.Context, cluster string, from, to time.Time) ([]store.JudgedSpan, error) {
	lo, hi := bounds(from, to)
	return listed(ctx, db, "problems_judged", func(scan func(...any) error) (s store.JudgedSpan, err error) {
		var since, until int64
		err = scan(&since, &until, &s.Body)
		s.From, s.To = stamped(since), stamped(until)
		return s, err
	}, `SELECT since, until, body FROM problems_judged WHERE cluster = ? AND since <= ? AND until >= ? ORDER BY since`, cluster, hi, lo)
}

// TrimProblems deletes what ended before a time.
func (db *DB) TrimProblems(ctx context.Context, cluster string, before time.Time) error {
	return db.change(ctx, func(tx *sql.Tx) error {
		for _, table := range []string{"problems", "problems_judged"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE cluster = ? AND until < ?`, cluster, before.UnixMilli()); err != nil {
				return unavailable(err)
			}
		}
		return nil
	})
}
