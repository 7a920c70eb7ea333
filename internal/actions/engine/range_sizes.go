package engine

import (
	"context"
	"errors"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Limits of measuring, after which a plan is made from estimates.
const (
	sizesTime  = 5 * time.Second // in all
	sizeReads  = 16              // ranges that are estimated
	exactReads = 4               // of those near the limit, that are read too
)

// measures tells whether a draft needs sizes and there is a source of them.
func (e *Engine) measures(d actions.Draft) bool { return e.o.Sizes != nil && len(d.Measures) > 0 }

// withSizes is the situation with the sizes of the ranges that a first draft of
// it would move: an estimate of each, and the exact size where that is near the
// limit. What could not be measured has a reason and keeps its estimate from the
// shards' sizes.
func (e *Engine) withSizes(ctx context.Context, s actions.Situation, of []actions.Span) actions.Situation {
	ctx, cancel := context.WithTimeout(ctx, sizesTime)
	defer cancel()
	s.Measured = actions.Measured{Ranges: map[actions.Span]topology.RangeSize{}}
	exact := 0
	for _, span := range of {
		c := s.Table.Collection(span.NS)
		if _, done := s.Measured.Ranges[span]; done || c == nil {
			continue
		}
		if len(s.Measured.Ranges) == sizeReads {
			s.Measured.Reason = "tooMany"
			return s
		}
		r := shardkey.Range{Min: span.Min, Max: span.Max}
		size, err := e.o.Sizes.RangeSize(ctx, c, r, false)
		if err != nil {
			e.o.Log.Warn("measure a range for a plan", "ns", string(span.NS), "err", err)
			s.Measured.Reason = notMeasured(err)
			return s
		}
		if exact < exactReads && !size.Exact && s.NearLimit(span, size) {
			exact++
			if read, err := e.o.Sizes.RangeSize(ctx, c, r, true); err == nil {
				read.Mean = size.Mean
				size = read
			} else {
				e.o.Log.Warn("read a range for a plan", "ns", string(span.NS), "err", err)
			}
		}
		s.Measured.Ranges[span] = size
	}
	return s
}

// notMeasured is the reason that a range could not be measured.
func notMeasured(err error) string {
	switch {
	case fault.Of(err) == fault.Forbidden:
		return "notPermitted"
	case errors.Is(err, topology.ErrMeasuredOften):
		return "tooManyMeasured"
	case errors.Is(err, context.DeadlineExceeded):
		return "tooSlow"
	}
	return "unreachable"
}
