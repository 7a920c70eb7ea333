package topology

import (
	"log/slog"
	"math"
	"time"
)

// Options are the watcher's intervals and bounds. Zero values mean the defaults.
type Options struct {
	Routing    time.Duration // between routing polls; 2 s
	Slow       time.Duration // between reads of shards, zones, settings, events …; 10 s
	Statistics time.Duration // age at which a collection's sizes are read again, and the shards' disks; 60 s
	Sweep      time.Duration // between the starts of two passes over all chunks for jumbo flags, at least; 60 s

	StatisticsPerSecond float64 // most size reads a second; 2
	SweepPerMinute      int     // most chunk documents a minute read by the sweep; 1,000
	RotateAbove         int     // collections from which a routing poll asks for a part only; 500

	Timeout     time.Duration // deadline of a read; 10 s
	LoadTimeout time.Duration // longest wait for the next part of a collection's chunks; 60 s
	MaxBackoff  time.Duration // longest pause between attempts while the cluster is lost; 10 s

	// Known is the id of the cluster that was last seen at this address, so that what is
	// stored of it can be shown before the cluster is reached; "" when there is none.
	Known string

	// Saved is what an earlier process saved of the cluster Known; nil for none. It is shown until the first table is
	// read, and reading goes on from it: what has no newer version is not read again.
	Saved *Table

	// Follow tells whether the changelog is to be followed now, where the source can; nil: it is polled. It is asked
	// every few seconds.
	Follow func() bool

	// Grow tells whether routing tables may take so many bytes more, and how many they may take at most. Where it says
	// no, the collection stays as it was and is listed as not read, with Damage.NoRoom. nil: there is always room.
	Grow func(bytes int64) (left int64, ok bool)

	Log *slog.Logger // nil: nowhere
}

func (o Options) withDefaults() Options {
	duration := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	duration(&o.Routing, 2*time.Second)
	duration(&o.Slow, 10*time.Second)
	duration(&o.Statistics, time.Minute)
	duration(&o.Sweep, time.Minute)
	duration(&o.Timeout, 10*time.Second)
	duration(&o.LoadTimeout, time.Minute)
	duration(&o.MaxBackoff, 10*time.Second)
	if o.StatisticsPerSecond <= 0 {
		o.StatisticsPerSecond = 2
	}
	if o.SweepPerMinute <= 0 {
		o.SweepPerMinute = 1000
	}
	if o.RotateAbove <= 0 {
		o.RotateAbove = 500
	}
	if o.Grow == nil {
		o.Grow = func(int64) (int64, bool) { return math.MaxInt64, true }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// every is how often each part is meant to be read, for Table.Stale.
func (o Options) every() map[Part]time.Duration {
	return map[Part]time.Duration{
		PartRouting: o.Routing, PartShards: o.Slow, PartDatabases: o.Slow, PartZones: o.Slow,
		PartSettings: o.Slow, PartRouters: o.Slow, PartBalancer: o.Slow, PartEvents: o.Slow,
		PartSizes: o.Statistics, PartCollections: o.Statistics, PartDisks: o.Statistics, PartMoves: o.Routing,
	}
}
