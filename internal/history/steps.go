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

// Gaps returns the spans without recording. The last one ends now while nothing is recorded; the
// pause until the next record of a process that records is none.
func (p *Past) Gaps(ctx context.Context, cluster string, from, to time.Time) ([]Gap, error) {
	spans, err := p.spans(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var out []Gap
	for i := 1; i <= len(spans); i++ {
		g := Gap{From: spans[i-1].To, To: p.now().UTC()}
		if i < len(spans) {
			g.To = spans[i].From
		} else if g.To.Sub(g.From) <= watchedGap {
			break
		}
		if g.From.Before(to) && g.To.After(from) {
			out = append(out, g)
		}
	}
	return out, nil
}

// Begin is the earliest time with a known state; fault.NotFound when there is none.
func (p *Past) Begin(ctx context.Context, cluster string) (time.Time, error) {
	first, err := p.kept.HistoryStep(ctx, cluster, frameStream, time.UnixMilli(math.MinInt64), true)
	if err != nil {
		return time.Time{}, err
	}
	if first.IsZero() {
		return time.Time{}, fault.New(fault.NotFound, "There is no history yet: shardboard has not recorded this cluster.")
	}
	return first, nil
}

// stepPrefixes are the streams whose changes count as steps in time; sizes do not.
var stepPrefixes = [...]string{frameStream, chunksPrefix}

// Step is the time of the next or previous change, or failure; zero when there is none.
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

// maxSkipped bounds how many changes of the server's own collections one step skips: a new cluster
// moves config.system.sessions a thousand times.
const maxSkipped = 5000

// stepOf is the next time with a change other than of the server's own collections.
func (p *Past) stepOf(ctx context.Context, cluster, prefix string, at time.Time, forward bool) (time.Time, error) {
	for range maxSkipped {
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

// excludeFromFailures excludes entries of the server's own collections, and moves of a chunk to the shard it
// is on, which older versions stored as failures.
func excludeFromFailures(e store.HistoryEvent) bool {
	x := keptEvent(e)
	return x.Internal() || x.MoveToSelf()
}

func (p *Past) stepFailure(ctx context.Context, cluster string, at time.Time, forward bool) (time.Time, error) {
	q := store.HistoryEvents{OnlyFailed: true, Ascending: forward, Limit: 1, Without: excludeFromFailures}
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

// Tick is the number of changes and failures in one part of a span.
type Tick struct{ Changes, Failures int }

// Ticks divides [from, to) into n parts and counts changes and failures.
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
	failures, err := p.kept.Events(
		ctx,
		cluster,
		store.HistoryEvents{From: from, To: to, OnlyFailed: true, Limit: most, Without: excludeFromFailures},
	)
	if err != nil {
		return nil, err
	}
	for _, e := range failures {
		out[in(e.At)].Failures++
	}
	return out, nil
}
