package records

import (
	"bytes"
	"context"
	"errors"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

var (
	outcomes = tableOf("run_outcomes", func(cluster *string, o *store.RunOutcome) []any {
		return []any{cluster, &o.Run, &o.At, &o.Open, &o.Body}
	})
	holdings = tableOf("holdings", func(cluster *string, h *store.Holding) []any {
		return []any{cluster, &h.NS, &h.At, &h.Body}
	})
	problems = tableOf("problems", func(cluster *string, p *store.ProblemRecord) []any {
		return []any{cluster, &p.ID, &p.Since, &p.Until, &p.Body}
	})
	judged = tableOf("problems_judged", func(cluster *string, s *store.JudgedSpan) []any {
		return []any{cluster, &s.From, &s.To, &s.Body}
	})
)

// SaveRunOutcome adds or replaces the measurements before and after a run.
func (r Records) SaveRunOutcome(ctx context.Context, cluster string, o store.RunOutcome) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error { return tx.Put(ctx, outcomes.Table, outcomes.row(cluster, o)) })
}

// RunOutcome returns the measurements before and after a run.
func (r Records) RunOutcome(ctx context.Context, cluster, run string) (store.RunOutcome, error) {
	o, err := one(ctx, r.db, outcomes, outcomes.is("cluster", cluster, "run", run))
	return o, or(err, fault.New(fault.NotFound, "Nothing was measured of this run."))
}

// OpenRunOutcomes returns those that are still being measured.
func (r Records) OpenRunOutcomes(ctx context.Context, cluster string) ([]store.RunOutcome, error) {
	return list(ctx, r.db, outcomes, outcomes.is("cluster", cluster, "open", true), 0, "run")
}

// SaveHolding adds or replaces the sample of a collection.
func (r Records) SaveHolding(ctx context.Context, cluster string, h store.Holding) error {
	return r.db.Lead(ctx, len(h.Body), func(ctx context.Context, tx Tx) error {
		return tx.Put(ctx, holdings.Table, holdings.row(cluster, h))
	})
}

// LoadHoldings returns the samples of a cluster, by name of the collection.
func (r Records) LoadHoldings(ctx context.Context, cluster string) ([]store.Holding, error) {
	return list(ctx, r.db, holdings, holdings.is("cluster", cluster), 0, "ns")
}

// DropHolding deletes the sample of a collection.
func (r Records) DropHolding(ctx context.Context, cluster, ns string) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		_, err := tx.Delete(ctx, holdings.Table, holdings.is("cluster", cluster, "ns", ns))
		return err
	})
}

// SaveProblems adds or replaces times in which problems lasted.
func (r Records) SaveProblems(ctx context.Context, cluster string, list []store.ProblemRecord) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		return tx.Put(ctx, problems.Table, problems.rows(cluster, list)...)
	})
}

// ProblemRecords returns the times in which problems lasted.
func (r Records) ProblemRecords(ctx context.Context, cluster string, from, to time.Time) ([]store.ProblemRecord, error) {
	return list(ctx, r.db, problems, within(problems, cluster, from, to), 0, "-since", "id")
}

// within is what lasted at some time in [from, to], or lasts. A zero time is no bound.
func within[T any](t table[T], cluster string, from, to time.Time) Where {
	where := t.is("cluster", cluster)
	if !to.IsZero() {
		where = t.and(where, "since", "<=", to)
	}
	if !from.IsZero() {
		where = t.and(where, "until", ">=", from)
		where[len(where)-1].OrUnset = true
	}
	return where
}

// NoteJudged extends the last span or starts one.
func (r Records) NoteJudged(ctx context.Context, cluster string, now time.Time, gap time.Duration, body []byte) error {
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		last, err := one(ctx, tx, judged, judged.is("cluster", cluster), "-since")
		now := now.Truncate(time.Millisecond)
		switch {
		case errors.Is(err, ErrNone):
		case err != nil:
			return err
		case !last.To.Before(now.Add(-gap)) && !last.To.After(now):
			_, err := tx.Update(ctx, judged.Table, judged.is("cluster", cluster, "since", last.From), judged.is("until", now))
			if err != nil || bytes.Equal(last.Body, body) {
				return err
			}
		}
		return tx.Put(ctx, judged.Table, judged.row(cluster, store.JudgedSpan{From: now, To: now, Body: body}))
	})
}

// JudgedSpans returns when problems were looked for.
func (r Records) JudgedSpans(ctx context.Context, cluster string, from, to time.Time) ([]store.JudgedSpan, error) {
	return list(ctx, r.db, judged, within(judged, cluster, from, to), 0, "since")
}

// TrimProblems deletes what ended before a time.
func (r Records) TrimProblems(ctx context.Context, cluster string, before time.Time) error {
	if err := r.db.Trim(ctx, problems.Table, problems.and(problems.is("cluster", cluster), "until", "<", before)); err != nil {
		return err
	}
	return r.db.Trim(ctx, judged.Table, judged.and(judged.is("cluster", cluster), "until", "<", before))
}
