package rules

import (
	"context"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// Past gives past states: history.Past.
type Past interface {
	// At is the table of a past time; fault.NotFound when the history does not reach back so far.
	At(ctx context.Context, cluster string, at time.Time) (history.Moment, error)
	// Begin is the earliest time with a known state; fault.NotFound when there is none.
	Begin(ctx context.Context, cluster string) (time.Time, error)
}

// oldest is the first state that history has.
func oldest(ctx context.Context, past Past, cluster string) (history.Moment, error) {
	begin, err := past.Begin(ctx, cluster)
	if err != nil {
		return history.Moment{}, err
	}
	return past.At(ctx, cluster, begin)
}

// sinceWhen finds in history since when something has been so: steps back until it was
// not, then halves the time between, to a minute. Some twenty reads.
func sinceWhen(ctx context.Context, past Past, cluster string, seen, now time.Time,
	is func(*topology.Table) (so, known bool)) (SettingSince, error) {
	out := SettingSince{At: seen, AtLeast: true, Method: "history"}
	var before time.Time // when it was not so
	for step := time.Hour; step <= history.Keep; step *= 4 {
		m, err := past.At(ctx, cluster, now.Add(-step))
		first := fault.Of(err) == fault.NotFound // history does not reach back so far
		if first {
			m, err = oldest(ctx, past, cluster)
		}
		switch {
		case first && fault.Of(err) == fault.NotFound:
			return out, nil
		case err != nil:
			return SettingSince{}, err
		}
		so, known := is(m.Table)
		if !known || !m.At.Before(out.At) {
			break
		}
		if !so {
			before = m.At
			break
		}
		if out.At = m.At; first {
			break
		}
	}
	if before.IsZero() {
		return out, nil
	}
	for out.At.Sub(before) > time.Minute {
		m, err := past.At(ctx, cluster, before.Add(out.At.Sub(before)/2))
		if err != nil {
			return SettingSince{}, err
		}
		if so, _ := is(m.Table); so {
			out.At = m.At
		} else {
			before = m.At
			out.AtLeast = !m.Watched
		}
	}
	if m, err := past.At(ctx, cluster, before); err == nil {
		// While nothing watched the cluster, it may have changed before the first record.
		out.AtLeast = !m.Watched
	}
	return out, nil
}
