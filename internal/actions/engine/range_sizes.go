package engine

import (
	"context"
	"errors"
	"maps"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Limits of measuring. Beyond them a plan is made from estimates.
const (
	sizesTimeout  = 5 * time.Second // for all ranges together
	maxEstimates  = 16              // ranges that are estimated
	maxExactReads = 4               // of those near the limit
)

// withSizes adds the sizes of ranges that would be moved to the situation: an
// estimate of each, and the exact size where the estimate is near the limit. A range
// that could not be measured keeps the estimate from the sizes of its shard, and the
// reason is recorded.
func (e *planning) withSizes(ctx context.Context, s actions.Situation, of []actions.Span) actions.Situation {
	ctx, cancel := context.WithTimeout(ctx, sizesTimeout)
	defer cancel()
	s.Measured = actions.Measured{Ranges: maps.Clone(s.Measured.Ranges)}
	if s.Measured.Ranges == nil {
		s.Measured.Ranges = map[actions.Span]topology.RangeSize{}
	}
	exact := 0
	for _, span := range of {
		c := s.Table.Collection(span.NS)
		if c == nil {
			continue
		}
		if len(s.Measured.Ranges) == maxEstimates {
			s.Measured.Reason = "tooMany"
			return s
		}
		r := shardkey.Range{Min: span.Min, Max: span.Max}
		size, err := e.opts.Sizes.RangeSize(ctx, c, r, false)
		if err != nil {
			e.opts.Log.Warn("measure a range for a plan", "ns", string(span.NS), "err", err)
			s.Measured.Reason = sizeFailureReason(err)
			return s
		}
		if exact < maxExactReads && !size.Exact && s.NearLimit(span, size) {
			exact++
			if read, err := e.opts.Sizes.RangeSize(ctx, c, r, true); err == nil {
				read.Mean = size.Mean
				size = read
			} else {
				e.opts.Log.Warn("read a range for a plan", "ns", string(span.NS), "err", err)
			}
		}
		s.Measured.Ranges[span] = size
	}
	return s
}

// sizeFailureReason is the code of the reason why a range could not be measured.
func sizeFailureReason(err error) string {
	switch reason := readFailureReason(err); {
	case reason == "notPermitted":
		return reason
	case errors.Is(err, topology.ErrMeasuredOften):
		return "tooManyMeasured"
	case errors.Is(err, context.DeadlineExceeded):
		return "tooSlow"
	default:
		return reason
	}
}
