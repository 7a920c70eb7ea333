package history

import (
	"context"
	"math"
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/topology"
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
		t, err := p.stepOf(ctx, cluster, prefix, at, forward)
		if err != nil {
			return best, err
		}
		if !t.IsZero() && (best.IsZero() || t.Before(best) == forward) {
			best = t
		}
	}
	return best, nil
}

// stepsPassed bounds how many changes of the server's own collections one step
// passes: a new cluster moves config.system.sessions a thousand times.
const stepsPassed = 5000

// stepOf is the next time at which something changed that is not of the server's
// own collections alone.
func (p *Past) stepOf(ctx context.Context, cluster, prefix string, at time.Time, forward bool) (time.Time, error) {
	for range stepsPassed {
		t, err := p.kept.HistoryStep(ctx, cluster, prefix, at, forward)
		if err != nil || t.IsZero() || prefix != chunksPrefix {
			return t, err
		}
		list, err := p.kept.HistoryBetween(ctx, cluster, prefix, t, t.Add(time.Millisecond), entriesRead)
		if err != nil || slices.ContainsFunc(list, func(e store.HistoryEntry) bool { return !topology.IsInternal(streamNS(e.Stream)) }) {
			return t, err
		}
		at = t
	}
	return time.Time{}, nil
}

// noFailure leaves out what is not looked for by default: entries of the server's
// own collections, and moves to where the chunk is, which were kept as failures once.
func noFailure(e store.HistoryEvent) bool {
	x := keptEvent(e)
	return x.Internal() || toItself(x)
}

func (p *Past) stepFailure(ctx context.Context, cluster string, at time.Time, forward bool) (time.Time, error) {
	q := store.HistoryEvents{OnlyFailed: true, Ascending: forward, Limit: 1, Without: noFailure}
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
	failures, err := p.kept.Events(ctx, cluster, store.HistoryEvents{From: from, To: to, OnlyFailed: true, Limit: most, Without: noFailure})
	if err != nil {
		return nil, err
	}
	for _, e := range failures {
		out[in(e.At)].Failures++
	}
	return out, nil
}
