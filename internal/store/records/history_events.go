package records

import (
	"cmp"
	"context"
	"slices"
	"time"

	"shardboard/internal/store"
)

// eventKey is what tells changelog entries of a cluster apart.
type eventKey struct {
	At time.Time
	ID string
}

// eventCount is how many entries of a kind a minute, hour or day has.
type eventCount struct {
	Span, Part int64
	What, NS   string
	Failed     bool
	N          int64
}

var (
	events = tableOf("history_events", func(cluster *string, e *store.HistoryEvent) []any {
		return []any{cluster, &e.ID, &e.At, &e.What, &e.NS, &e.Shard, &e.Failed, &e.Details}
	})
	eventKeys = tableOf("history_events", func(_ *string, k *eventKey) []any { return []any{&k.ID, &k.At} }, "id", "at")

	minuteCounts = tableOf("history_event_minutes", func(cluster *string, c *eventCount) []any {
		return []any{cluster, &c.Part, &c.What, &c.NS, &c.Failed, &c.N}
	})
	spanCounts = tableOf("history_event_spans", func(cluster *string, c *eventCount) []any {
		return []any{cluster, &c.Span, &c.Part, &c.What, &c.NS, &c.Failed, &c.N}
	})
)

// eventsTogether is how many entries are looked for by one query.
const eventsTogether = 500

// appendEvents inserts those that do not exist and counts them.
func appendEvents(ctx context.Context, tx Tx, cluster string, given []store.HistoryEvent) error {
	counts, spans := map[eventCount]int64{}, append(store.CountedSpans[:], 1)
	for some := range slices.Chunk(given, eventsTogether) {
		from, to, ids := some[0].At, some[0].At, make([]string, 0, len(some))
		for _, e := range some {
			ids = append(ids, e.ID)
			if e.At.Before(from) {
				from = e.At
			}
			if e.At.After(to) {
				to = e.At
			}
		}
		where := events.and(events.and(events.is("cluster", cluster), "at", ">=", from), "at", "<=", to)
		there, err := list(ctx, tx, eventKeys, events.and(where, "id", "in", ids), 0)
		if err != nil {
			return err
		}
		known := map[eventKey]bool{}
		for _, k := range there {
			known[k] = true
		}
		var fresh []store.HistoryEvent
		for _, e := range some {
			k := eventKey{e.At.UTC().Truncate(time.Millisecond), e.ID}
			if known[k] {
				continue
			}
			known[k] = true
			fresh = append(fresh, e)
			for _, span := range spans {
				counts[eventCount{Span: span, Part: e.At.Unix() / 60 / span, What: cmp.Or(e.CountedAs, e.What), NS: e.NS, Failed: e.Failed}]++
			}
		}
		if err := tx.Insert(ctx, events.Table, events.rows(cluster, fresh)...); err != nil {
			return err
		}
	}
	return addCounts(ctx, tx, cluster, counts)
}

// addCounts adds numbers to what is counted.
func addCounts(ctx context.Context, tx Tx, cluster string, counts map[eventCount]int64) error {
	var minutes, spans []eventCount
	for c, n := range counts {
		if c.N = n; c.Span == 1 {
			minutes = append(minutes, c)
		} else {
			spans = append(spans, c)
		}
	}
	if err := tx.Count(ctx, minuteCounts.Table, minuteCounts.rows(cluster, minutes)...); err != nil {
		return err
	}
	return tx.Count(ctx, spanCounts.Table, spanCounts.rows(cluster, spans)...)
}

// Events returns stored changelog entries.
func (r Records) Events(ctx context.Context, cluster string, asked store.HistoryEvents) (out []store.HistoryEvent, err error) {
	if asked.Limit <= 0 {
		return nil, nil
	}
	q := events.all(events.during(events.is("cluster", cluster), "at", asked.From, asked.To), "-at", "-id")
	if asked.Ascending {
		q.Order = []string{"at", "id"}
	}
	if asked.OnlyFailed {
		q.Where, q.Rare = events.and(q.Where, "failed", "set", true), "failed"
	}
	if asked.NS != "" {
		q.Where, q.Rare = events.and(q.Where, "ns", "=", asked.NS), "ns"
	}
	if asked.Without == nil { // else entries are read until there are enough
		q.Limit = asked.Limit
	}
	err = r.db.Find(ctx, q, func(row store.Row) bool {
		if e := events.record(row); asked.Without == nil || !asked.Without(e) {
			out = append(out, e)
		}
		return len(out) < asked.Limit && (asked.Enough == nil || !asked.Enough())
	})
	return out, err
}

// EventCounts counts entries by the longest spans that fit into the parts, and by shorter ones at both ends. So its
// cost follows the parts that are asked for, not the entries.
func (r Records) EventCounts(ctx context.Context, cluster string, from, to time.Time, width time.Duration) ([]store.EventCount, error) {
	minutes, sums := int64(width/time.Minute), map[eventCount]int64{}
	for _, p := range store.CountedPieces(from.Unix()/60, to.Unix()/60, minutes) {
		kept, part, where := spanCounts, "part", spanCounts.is("cluster", cluster, "span", p.Span)
		if p.Span == 1 {
			kept, part, where = minuteCounts, "minute", minuteCounts.is("cluster", cluster)
		}
		where = kept.and(kept.and(where, part, ">=", p.From), part, "<", p.To)
		err := r.db.Find(ctx, kept.all(where), func(row store.Row) bool {
			c := kept.record(row)
			sums[eventCount{Part: c.Part * p.Span / minutes, What: c.What, NS: c.NS, Failed: c.Failed}] += c.N
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	var out []store.EventCount
	for c, n := range sums {
		at := time.Unix(0, 0).UTC().Add(time.Duration(c.Part) * width)
		out = append(out, store.EventCount{At: at, What: c.What, NS: c.NS, Failed: c.Failed, N: int(n)})
	}
	slices.SortFunc(out, func(a, b store.EventCount) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.What, b.What), cmp.Compare(a.NS, b.NS), flagOf(a.Failed)-flagOf(b.Failed))
	})
	return out, nil
}

func flagOf(set bool) int {
	if set {
		return 1
	}
	return 0
}

// trimCounts deletes the counts before a time. The hour and the day that it divides are counted again from their
// minutes.
func (r Records) trimCounts(ctx context.Context, cluster string, before time.Time) error {
	minute := before.Unix() / 60
	if err := r.db.Trim(ctx, minuteCounts.Table, minuteCounts.and(minuteCounts.is("cluster", cluster), "minute", "<", minute)); err != nil {
		return err
	}
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		counts := map[eventCount]int64{}
		for _, span := range store.CountedSpans {
			part := minute / span
			old := spanCounts.and(spanCounts.is("cluster", cluster, "span", span), "part", "<=", part)
			if _, err := tx.Delete(ctx, spanCounts.Table, old); err != nil {
				return err
			}
			left := minuteCounts.and(minuteCounts.is("cluster", cluster), "minute", ">=", part*span)
			rows, err := list(ctx, tx, minuteCounts, minuteCounts.and(left, "minute", "<", (part+1)*span), 0)
			if err != nil {
				return err
			}
			for _, c := range rows {
				counts[eventCount{span, part, c.What, c.NS, c.Failed, 0}] += c.N
			}
		}
		return addCounts(ctx, tx, cluster, counts)
	})
}
