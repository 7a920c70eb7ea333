package history

import (
	"context"
	"math"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// Gaps are the spans between those in which somebody watched.
func (p *Past) Gaps(ctx context.Context, cluster string, from, to time.Time) ([]Gap, error) {
	spans, err := p.spans(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var out []Gap
	for i := 1; i < len(spans); i++ {
		g := Gap{From: spans[i-1].To, To: spans[i].From}
		if g.From.Before(to) && g.To.After(from) {
			out = append(out, g)
		}
	}
	return out, nil
}

// Begin is the first time of which the state is known; fault.NotFound when
// there is none.
func (p *Past) Begin(ctx context.Context, cluster string) (time.Time, error) {
	first, err := p.kept.HistoryStep(ctx, cluster, frameStream, time.UnixMilli(math.MinInt64), true)
	if err != nil {
		return time.Time{}, err
	}
	if first.IsZero() {
		return time.Time{}, fault.New(fault.NotFound, "Nothing is known of the past: shardboard has kept no history of this cluster yet.")
	}
	return first, nil
}

// stepPrefixes are the streams whose changes are steps in time: sizes are not.
var stepPrefixes = [...]string{frameStream, chunksPrefix}

// Step is the time of the change next to at, or of the failure; zero when there
// is none.
func (p *Past) Step(ctx context.Context, cluster string, at time.Time, forward, failure bool) (time.Time, error) {
	if failure {
		return p.stepFailure(ctx, cluster, at, forward)
	}
	var best time.Time
	for _, prefix := range stepPrefixes {
		t, err := p.kept.HistoryStep(ctx, cluster, prefix, at, forward)
		if err != nil {
			return best, err
		}
		if !t.IsZero() && (best.IsZero() || t.Before(best) == forward) {
			best = t
		}
	}
	return best, nil
}

func (p *Past) stepFailure(ctx context.Context, cluster string, at time.Time, forward bool) (time.Time, error) {
	q := store.HistoryEvents{OnlyFailed: true, Ascending: forward, Limit: 1}
	if forward {
		q.From = at.Truncate(time.Millisecond).Add(time.Millisecond)
	} else {
		q.To = at.Truncate(time.Millisecond)
	}
	list, err := p.kept.Events(ctx, cluster, q)
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	return list[0].At, nil
}

// Tick is how much happened in one of the parts of a span.
type Tick struct{ Changes, Failures int }

// Ticks cuts [from, to) into n parts and counts moments of change and failures.
func (p *Past) Ticks(ctx context.Context, cluster string, from, to time.Time, n int) ([]Tick, error) {
	out := make([]Tick, n)
	in := func(t time.Time) int {
		return max(0, min(n-1, int(float64(t.Sub(from))/float64(to.Sub(from))*float64(n))))
	}
	const most = 10_000
	for _, prefix := range stepPrefixes {
		times, err := p.kept.HistoryTimes(ctx, cluster, prefix, from, to, most)
		if err != nil {
			return nil, err
		}
		for _, t := range times {
			out[in(t)].Changes++
		}
	}
	failures, err := p.kept.Events(ctx, cluster, store.HistoryEvents{From: from, To: to, OnlyFailed: true, Limit: most})
	if err != nil {
		return nil, err
	}
	for _, e := range failures {
		out[in(e.At)].Failures++
	}
	return out, nil
}
