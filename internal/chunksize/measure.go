package chunksize

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Measure measures a chunk now and waits for the result.
func (b *Book) Measure(ctx context.Context, c *topology.Collection, r shardkey.Range, exact bool) (Size, error) {
	got, err := b.RangeSize(ctx, c, r, exact)
	if err != nil {
		return Size{}, err
	}
	return sizeOf(got), nil
}

// RangeSize measures a range of a collection now. A result of the last half minute is
// reused, and concurrent requests for the same range share one measurement. Only
// results for whole chunks are cached.
//
// Errors are fault.Forbidden, fault.Unavailable (too slow, not reachable, or
// measured too often in the last minute) and fault.Conflict.
func (b *Book) RangeSize(ctx context.Context, c *topology.Collection, r shardkey.Range, exact bool) (topology.RangeSize, error) {
	if got, ok := b.fresh(c, r, exact); ok {
		return got, nil
	}
	key := fmt.Sprintf("%s %x %t %q %q", c.NS, c.Incarnation, exact, r.Min.Encoded(), r.Max.Encoded())
	made := b.flights.DoChan(key, func() (any, error) {
		limit := estimateTime
		if exact {
			limit = ExactTime
		}
		// The result is shared, so one caller's cancellation must not end the measurement.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		return b.measureOnDemand(ctx, c, r, exact)
	})
	select {
	case got := <-made:
		if got.Err != nil {
			return topology.RangeSize{}, got.Err
		}
		return got.Val.(topology.RangeSize), nil
	case <-ctx.Done():
		return topology.RangeSize{}, fault.Wrap(fault.Unavailable, ctx.Err(), "Measuring the chunk took too long and was given up.")
	}
}

// fresh returns a cached result that is recent and exact enough.
func (b *Book) fresh(c *topology.Collection, r shardkey.Range, exact bool) (topology.RangeSize, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	got, kept := b.entries.Peek(chunkKey{collectionIDOf(c), r.Min.Encoded()})
	if !kept {
		return topology.RangeSize{}, false
	}
	ok := got.measured && got.max == r.Max.Encoded() && (got.size.Exact || !exact) && b.now().Sub(got.size.At) < freshFor
	return got.size, ok
}

// measureOnDemand measures within the limit per minute.
func (b *Book) measureOnDemand(ctx context.Context, c *topology.Collection, r shardkey.Range, exact bool) (topology.RangeSize, error) {
	if !b.allowOnDemand() {
		return topology.RangeSize{}, fault.Wrap(fault.Unavailable, topology.ErrMeasuredOften,
			"%d chunks were measured in the last minute, which is the limit. Try again in a moment.", DemandPerMinute)
	}
	select {
	case b.gate <- struct{}{}:
		defer func() { <-b.gate }()
	case <-ctx.Done():
		return topology.RangeSize{}, fault.Wrap(fault.Unavailable, topology.ErrMeasuredOften,
			"Other chunks are being measured. Try again in a moment.")
	}
	return b.measureOnce(ctx, c, r, exact)
}

// measureOnce sends one dataSize and caches the result if the range is a chunk.
func (b *Book) measureOnce(ctx context.Context, c *topology.Collection, r shardkey.Range, exact bool) (topology.RangeSize, error) {
	got, err := b.src.RangeSize(ctx, c.Meta, r, exact)
	if err != nil && ctx.Err() != nil && fault.Of(err) != fault.Forbidden {
		err = fault.Wrap(fault.Unavailable, errors.Join(context.DeadlineExceeded, err), "Measuring the chunk took too long and was given up.")
	}
	if i, ch := c.Chunks.Find(r.Min); i >= 0 && ch.Min.Compare(r.Min) == 0 && ch.Max.Compare(r.Max) == 0 {
		b.record(c, r, got, err)
	}
	return got, err
}

// allowOnDemand counts a measurement on demand; false if there were too many in the
// last minute.
func (b *Book) allowOnDemand() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for len(b.demands) > 0 && now.Sub(b.demands[0]) >= time.Minute {
		b.demands = b.demands[1:]
	}
	if len(b.demands) >= DemandPerMinute {
		return false
	}
	b.demands = append(b.demands, now)
	return true
}
