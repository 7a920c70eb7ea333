package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/archive"
	"shardboard/internal/store/audit"
)

// yearEnd is the newest entry of a year.
var yearEnd = time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)

const year = 365 * 24 * time.Hour

// BenchmarkYear fills a store with a year: 10 million changelog entries, 20,000 runs, 50,000 problems and a million
// audit records with SHARDBOARD_LONG=hours, a tenth with SHARDBOARD_LONG=1, else a hundredth. It then answers what
// pages ask first, at 100 times of the year, and makes a backup and restores it. Times are milliseconds.
// SHARDBOARD_YEAR is a folder that keeps the store for the next time: making it takes longer than all the rest.
func BenchmarkYear(b *testing.B) {
	part := 100
	switch os.Getenv("SHARDBOARD_LONG") {
	case "hours":
		part = 1
	case "1":
		part = 10
	}
	dir := os.Getenv("SHARDBOARD_YEAR")
	if dir == "" {
		dir = b.TempDir()
	}
	db, err := Open(b.Context(), dir)
	must.Do(b, err)
	defer db.Close()
	began := time.Now()
	if seq, _, err := db.AuditEnd(b.Context()); err != nil || seq == 0 {
		fillYear(b, db, part)
	}
	if file, err := os.Stat(filepath.Join(dir, "shardboard.db")); err == nil {
		b.Logf("filled in %s, %d MB", time.Since(began).Round(time.Second), file.Size()>>20)
	}
	ctx := b.Context()
	events := func(q store.HistoryEvents) func(at time.Time) error {
		return func(at time.Time) error {
			if q.Ascending {
				q.From = at
			} else {
				q.To = at
			}
			_, err := db.Events(ctx, "c", q)
			return err
		}
	}
	search := func(f audit.Filter) func(time.Time) error {
		return func(time.Time) error {
			_, err := audit.Newest(ctx, db, f, 1+rand.Int64N(int64(1_000_000/part)), 50)
			return err
		}
	}
	for _, q := range []struct {
		name string
		ask  func(time.Time) error
	}{
		{"activity", events(store.HistoryEvents{Limit: 51})},
		{"activity, nothing matches", func(at time.Time) error {
			read, began := 0, time.Now() // with the bounds of package history
			return events(store.HistoryEvents{Limit: 51,
				Without: func(store.HistoryEvent) bool { read++; return true },
				Enough:  func() bool { return read == 25_000 || read%500 == 0 && time.Since(began) >= 100*time.Millisecond },
			})(at)
		}},
		{"timeline", events(store.HistoryEvents{Limit: 51, Ascending: true})},
		{"timeline of a rare collection", events(store.HistoryEvents{Limit: 51, Ascending: true, NS: "app.rare"})},
		{"entries of a missing collection", events(store.HistoryEvents{Limit: 51, NS: "app.none"})},
		{"next failure", events(store.HistoryEvents{Limit: 1, OnlyFailed: true, Ascending: true})},
		{"counts of a year", func(time.Time) error {
			_, err := db.EventCounts(ctx, "c", yearEnd.Add(-year), yearEnd, 24*time.Hour)
			return err
		}},
		{"runs", func(time.Time) error {
			_, err := db.RunRecords(ctx, "c", 1+rand.Int64N(int64(20_000/part)), 51)
			return err
		}},
		{"problems of 30 days", func(time.Time) error {
			_, err := db.ProblemRecords(ctx, "c", yearEnd.Add(-30*24*time.Hour), yearEnd)
			return err
		}},
		{"past table", func(at time.Time) error { _, err := db.HistoryOf(ctx, "c", "frame", at); return err }},
		{"audit", search(audit.Filter{})},
		{"audit, nothing matches", search(audit.Filter{By: "nobody"})},
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				var took []float64
				for range 100 {
					at, began := yearEnd.Add(-time.Duration(rand.Float64()*float64(year))), time.Now()
					must.Do(b, q.ask(at))
					took = append(took, time.Since(began).Seconds()*1000)
				}
				b.ReportMetric(took[0], "first")
				slices.Sort(took)
				b.ReportMetric(took[50], "median")
				b.ReportMetric(took[98], "p99")
			}
		})
	}
	b.Run("backup and restore", func(b *testing.B) {
		for b.Loop() {
			path, began := filepath.Join(b.TempDir(), "backup"), time.Now()
			must.Do(b, must.Err(archive.Backup(ctx, db, path, "test")))
			b.ReportMetric(time.Since(began).Seconds()*1000, "backup")
			to, err := Open(ctx, b.TempDir())
			must.Do(b, err)
			began = time.Now()
			checked, err := archive.Check(ctx, path)
			must.Do(b, err)
			must.Do(b, must.Err(archive.Restore(ctx, checked, to)))
			b.ReportMetric(time.Since(began).Seconds()*1000, "restore")
			must.Do(b, to.Close())
		}
	})
}

// fillYear stores a part of a year's history.
func fillYear(b *testing.B, db *DB, part int) {
	b.Helper()
	ctx := b.Context()
	spread := func(i, n int) time.Time { return yearEnd.Add(-year + year/time.Duration(n)*time.Duration(i)) }
	many := func(n int, one func(tx *sql.Tx, i int, at time.Time) error) {
		for i := 0; i < n; {
			must.Do(b, db.change(ctx, func(tx *sql.Tx) error {
				for end := min(n, i+50_000); i < end; i++ {
					if err := one(tx, i, spread(i, n)); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	}
	exec := func(statement string) func(tx *sql.Tx, args ...any) error {
		return func(tx *sql.Tx, args ...any) error { _, err := tx.ExecContext(ctx, statement, args...); return err }
	}
	kinds := []string{"moveChunk.start", "moveChunk.commit", "split", "merge"}
	details := make([]byte, 120)
	must.Do(b, db.BeginLoad(ctx))
	events := store.Tables()[slices.IndexFunc(store.Tables(), func(t store.Table) bool { return t.Name == "history_events" })]
	for i, n := 0, 10_000_000/part; i < n; {
		var rows []store.Row
		for end := min(n, i+50_000); i < end; i++ {
			ns, what, failed := fmt.Sprint("app.c", i%10), kinds[i%4], int64(0)
			if i%(2_000_000/part) == 7 {
				ns, what, failed = "app.rare", "moveChunk.error", 1
			}
			rows = append(rows, store.Row{"c", fmt.Sprint("e", i), spread(i, n).UnixMilli(), what, ns, "s1", failed, details})
		}
		must.Do(b, db.LoadRows(ctx, events, rows))
	}
	must.Do(b, db.EndLoad(ctx))
	must.Do(b, db.change(ctx, func(tx *sql.Tx) error {
		for _, s := range []string{
			`INSERT INTO history_event_minutes SELECT cluster, at / 60000, what, ns, failed <> 0, count(*) FROM history_events
				GROUP BY 1, 2, 3, 4, 5`,
			`INSERT INTO history_event_spans SELECT cluster, 60, minute / 60, what, ns, failed, sum(n) FROM history_event_minutes
				GROUP BY 1, 2, 3, 4, 5, 6`,
			`INSERT INTO history_event_spans SELECT cluster, 1440, part / 24, what, ns, failed, sum(n) FROM history_event_spans
				WHERE span = 60 GROUP BY 1, 2, 3, 4, 5, 6`,
		} {
			if err := exec(s)(tx); err != nil {
				return err
			}
		}
		return nil
	}))
	plan := exec(`INSERT INTO plans (id, cluster, by, kind, hash, made, expires, body) VALUES (?, 'c', 'user:1', 'move', 'h', ?, ?, ?)`)
	run := exec(`INSERT INTO runs (id, plan, cluster, by, state, open, started, ended, body) VALUES (?, ?, 'c', 'user:1', 'done', 0, ?, ?, ?)`)
	body := make([]byte, 4_000)
	many(20_000/part, func(tx *sql.Tx, i int, at time.Time) error {
		id, ms := fmt.Sprint("p", i), at.UnixMilli()
		if err := plan(tx, id, ms, ms, body); err != nil {
			return err
		}
		return run(tx, fmt.Sprint("r", i), id, ms, ms+60_000, body)
	})
	problem := exec(`INSERT INTO problems VALUES ('c', ?, ?, ?, ?)`)
	many(50_000/part, func(tx *sql.Tx, i int, at time.Time) error {
		return problem(tx, fmt.Sprint("problem", i%500), at.UnixMilli(), at.Add(time.Hour).UnixMilli(), body[:500])
	})
	entry := exec(`INSERT INTO history (cluster, stream, at, whole, body) VALUES ('c', 'frame', ?, ?, ?)`)
	many(365*24, func(tx *sql.Tx, i int, at time.Time) error { return entry(tx, at.UnixMilli(), i%24 == 0, body) })
	for left := 1_000_000 / part; left > 0; {
		must.Do(b, db.change(context.WithoutCancel(ctx), func(tx *sql.Tx) (err error) {
			for n := 0; left > 0 && n < 20_000 && err == nil; n, left = n+1, left-1 {
				_, err = db.in(tx).Append(ctx, store.AuditEntry{At: yearEnd, By: fmt.Sprint("user:", left%7), What: "plan.made",
					Subject: fmt.Sprint("p", left), Outcome: "ok"})
			}
			return err
		}))
	}
}
