package records

import (
	"context"
	"errors"
	"time"

	"shardboard/internal/store"
)

// mark is an entry of history without its body.
type mark struct {
	Seq    int64
	Stream string
	At     time.Time
}

var (
	history = tableOf("history", func(cluster *string, e *store.HistoryEntry) []any {
		return []any{&e.Seq, cluster, &e.Stream, &e.At, &e.Whole, &e.Body}
	})
	marks = tableOf("history", func(_ *string, m *mark) []any { return []any{&m.Seq, &m.Stream} }, "seq", "stream")
	times = tableOf("history", func(_ *string, m *mark) []any { return []any{&m.At} }, "at")

	watched = tableOf("history_watched", func(cluster *string, w *store.Watched) []any { return []any{cluster, &w.From, &w.To} })
)

// AppendHistory adds the entries and events of one moment.
func (r Records) AppendHistory(ctx context.Context, cluster string, entries []store.HistoryEntry, events []store.HistoryEvent) error {
	size := 0
	for _, e := range entries {
		size += len(e.Body)
	}
	return r.db.Lead(ctx, size, func(ctx context.Context, tx Tx) error {
		if len(entries) > 0 {
			first, err := tx.Number(ctx, history.Table, "seq", len(entries))
			if err != nil {
				return err
			}
			rows := history.rows(cluster, entries)
			for i := range rows {
				rows[i][0] = first + int64(i)
			}
			if err := tx.Insert(ctx, history.Table, rows...); err != nil {
				return err
			}
		}
		return appendEvents(ctx, tx, cluster, events)
	})
}

// HistoryOf returns the entries from which a stream's state at a time is made.
func (r Records) HistoryOf(ctx context.Context, cluster, stream string, at time.Time) ([]store.HistoryEntry, error) {
	until := history.and(history.is("cluster", cluster, "stream", stream), "at", "<=", at)
	// From the index alone: the bodies of whole entries are large.
	base, err := one(ctx, r.db, marks, history.and(until, "whole", "set", true), "-at", "-seq")
	if err != nil {
		return nil, or(err, nil)
	}
	q := history.all(history.and(until, "seq", ">=", base.Seq), "seq")
	q.Strict = true // without one of its changes the state would be another
	return find(ctx, r.db, history, q)
}

// ofStreams are the entries of streams with a prefix.
func ofStreams(cluster, prefix string) Where {
	return history.and(history.and(history.is("cluster", cluster), "stream", ">=", prefix), "stream", "<", prefix+"\U0010ffff")
}

// HistoryTimes returns the times of entries of streams with a prefix.
func (r Records) HistoryTimes(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) (out []time.Time, err error) {
	if limit <= 0 {
		return nil, nil
	}
	q := times.all(history.during(ofStreams(cluster, prefix), "at", from, to), "at")
	err = r.db.Find(ctx, q, func(row store.Row) bool {
		if at := times.record(row).At; len(out) == 0 || !out[len(out)-1].Equal(at) {
			out = append(out, at)
		}
		return len(out) < limit
	})
	return out, err
}

// HistoryBetween returns the entries of a time span.
func (r Records) HistoryBetween(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) ([]store.HistoryEntry, error) {
	return list(ctx, r.db, history, history.during(ofStreams(cluster, prefix), "at", from, to), limit, "at", "seq")
}

// HistoryStep returns the time of the entry before or after a time.
func (r Records) HistoryStep(ctx context.Context, cluster, prefix string, at time.Time, forward bool) (time.Time, error) {
	beyond, order := "<", "-at"
	if forward {
		beyond, order = ">", "at"
	}
	next, err := one(ctx, r.db, times, history.and(ofStreams(cluster, prefix), "at", beyond, at), order)
	return next.At, or(err, nil)
}

// NoteWatched extends the last watched span or starts one.
func (r Records) NoteWatched(ctx context.Context, cluster string, now time.Time, gap time.Duration) error {
	now = now.Truncate(time.Millisecond)
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		last, err := one(ctx, tx, watched, watched.is("cluster", cluster), "-since")
		switch {
		case errors.Is(err, ErrNone):
		case err != nil:
			return err
		case !last.To.Before(now.Add(-gap)) && !last.To.After(now):
			_, err := tx.Update(ctx, watched.Table, watched.is("cluster", cluster, "since", last.From), watched.is("until", now))
			return err
		}
		return tx.Put(ctx, watched.Table, watched.row(cluster, store.Watched{From: now, To: now}))
	})
}

// WatchedSpans returns the spans that overlap [from, to).
func (r Records) WatchedSpans(ctx context.Context, cluster string, from, to time.Time) ([]store.Watched, error) {
	where := watched.during(watched.is("cluster", cluster), "until", from, time.Time{})
	return list(ctx, r.db, watched, watched.during(where, "since", time.Time{}, to), 0, "since")
}

// TrimHistory deletes what no state at or after before needs: of each stream, everything before its last full entry at
// that time. What is left when it fails is deleted next time.
func (r Records) TrimHistory(ctx context.Context, cluster string, before time.Time) error {
	bases := map[string]int64{}
	full := marks.all(history.and(history.and(history.is("cluster", cluster), "whole", "set", true), "at", "<=", before))
	err := r.db.Find(ctx, full, func(row store.Row) bool {
		m := marks.record(row)
		bases[m.Stream] = max(bases[m.Stream], m.Seq)
		return true
	})
	if err != nil {
		return err
	}
	var old []Where
	for stream, base := range bases {
		of := history.and(history.is("cluster", cluster, "stream", stream), "at", "<", before)
		old = append(old, history.and(of, "seq", "<", base))
	}
	if err := r.db.Trim(ctx, history.Table, old...); err != nil {
		return err
	}
	if err := r.db.Trim(ctx, events.Table, events.and(events.is("cluster", cluster), "at", "<", before)); err != nil {
		return err
	}
	if err := r.db.Trim(ctx, watched.Table, watched.and(watched.is("cluster", cluster), "until", "<", before)); err != nil {
		return err
	}
	return r.trimCounts(ctx, cluster, before)
}
