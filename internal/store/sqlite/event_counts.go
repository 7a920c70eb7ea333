package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"shardboard/internal/store"
)

// EventCounts counts entries by the longest spans that fit into the parts, and by shorter ones at
// both ends. So its cost follows the parts that are asked for, not the entries.
func (db *DB) EventCounts(ctx context.Context, cluster string, from, to time.Time, width time.Duration) ([]store.EventCount, error) {
	minutes := int64(width / time.Minute)
	var pieces []string
	for _, p := range store.CountedPieces(from.Unix()/60, to.Unix()/60, minutes) {
		kept, part := fmt.Sprintf("history_event_spans WHERE span = %d AND", p.Span), "part"
		if p.Span == 1 {
			kept, part = "history_event_minutes WHERE", "minute"
		}
		pieces = append(pieces, fmt.Sprintf(`SELECT %[1]s * %[2]d / ?2 AS at, what, ns, failed, n FROM %[3]s
			cluster = ?1 AND %[1]s >= %[4]d AND %[1]s < %[5]d`, part, p.Span, kept, p.From, p.To))
	}
	if len(pieces) == 0 {
		return nil, nil
	}
	rows, err := db.read.QueryContext(ctx, `SELECT at, what, ns, failed, sum(n) FROM (`+strings.Join(pieces, " UNION ALL ")+`)
		GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`, cluster, minutes)
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var out []store.EventCount
	for rows.Next() {
		var c store.EventCount
		var part int64
		if err := rows.Scan(&part, &c.What, &c.NS, (*flag)(&c.Failed), &c.N); err != nil {
			return nil, unavailable(err)
		}
		c.At = time.Unix(0, 0).UTC().Add(time.Duration(part) * width)
		out = append(out, c)
	}
	return out, unavailable(rows.Err())
}

// countEvent adds an entry that was stored to its minute, hour and day.
func countEvent(ctx context.Context, tx *sql.Tx, cluster string, e store.HistoryEvent) error {
	minute, what := e.At.Unix()/60, cmp.Or(e.CountedAs, e.What)
	_, err := tx.ExecContext(ctx, `INSERT INTO history_event_minutes VALUES (?, ?, ?, ?, ?, 1)
		ON CONFLICT DO UPDATE SET n = n + 1`, cluster, minute, what, e.NS, e.Failed)
	if err != nil {
		return unavailable(err)
	}
	for _, span := range store.CountedSpans {
		_, err := tx.ExecContext(ctx, `INSERT INTO history_event_spans VALUES (?, ?, ?, ?, ?, ?, 1)
			ON CONFLICT DO UPDATE SET n = n + 1`, cluster, span, minute/span, what, e.NS, e.Failed)
		if err != nil {
			return unavailable(err)
		}
	}
	return nil
}

// trimCounts deletes the counts before a time. The hour and the day that it divides are counted again
// from their minutes.
func trimCounts(ctx context.Context, tx *sql.Tx, cluster string, before time.Time) error {
	minute := before.UnixMilli() / 60_000
	_, err := tx.ExecContext(ctx, `DELETE FROM history_event_minutes WHERE cluster = ? AND minute < ?`, cluster, minute)
	if err != nil {
		return unavailable(err)
	}
	for _, span := range store.CountedSpans {
		part := minute / span
		_, err := tx.ExecContext(ctx, `DELETE FROM history_event_spans WHERE cluster = ? AND span = ? AND part <= ?`, cluster, span, part)
		if err != nil {
			return unavailable(err)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO history_event_spans SELECT cluster, ?2, ?3, what, ns, failed, sum(n)
			FROM history_event_minutes WHERE cluster = ?1 AND minute >= ?3 * ?2 AND minute < (?3 + 1) * ?2
			GROUP BY what, ns, failed`, cluster, span, part)
		if err != nil {
			return unavailable(err)
		}
	}
	return nil
}
