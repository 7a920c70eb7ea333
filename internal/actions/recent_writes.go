package actions

import (
	"context"
	"time"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Writes is what is known about recent writes, for plans that split by them.
type Writes struct {
	Ranges []topology.RangeWrites // one per requested range
	// Shards is the rows a second that each shard receives, over all collections whose
	// writes are counted; nil when not known.
	Shards map[string]float64
	At     time.Time // when it was read; zero: not read
}

// of returns what is known about the writes to a range.
func (w Writes) of(ns topology.Namespace, lo, hi shardkey.Key) topology.RangeWrites {
	for _, r := range w.Ranges {
		if r.NS == ns && r.Min.Compare(lo) == 0 && r.Max.Compare(hi) == 0 {
			return r
		}
	}
	return topology.RangeWrites{NS: ns, Min: lo, Max: hi, Reason: reasonNotLoaded}
}

// RecentWrites finds where rows were written recently. It may read the cluster,
// within its own limits. A range whose writes are not known has the reason.
type RecentWrites interface {
	RecentWrites(ctx context.Context, t *topology.Table, of []Span) Writes
}
