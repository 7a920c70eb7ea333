package topology

import (
	"context"
	"maps"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
)

// statistics keeps sizes, disks and the lists of unsharded collections fresh, slowly
// enough that nobody notices: one collection after the other.
func (w *Watcher) statistics(ctx context.Context) error {
	select {
	case <-w.loaded:
	case <-ctx.Done():
		return ctx.Err()
	}
	s := newSurveyor(w)
	pause := time.Duration(float64(time.Second) / w.o.StatisticsPerSecond)
	for {
		s.turn(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := clock.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// surveyor is the state of the statistics poll; one goroutine's.
type surveyor struct {
	w       *Watcher
	listed  time.Time       // when the lists were last read
	summed  time.Time       // when AllSizes was last asked
	summing bool            // the server has it
	weighed time.Time       // when the disks were last read
	diskDB  string          // database by which they were
	told    map[string]Disk // disks when subscribers last heard of them
	asked   map[Namespace]time.Time
	onDisk  map[Namespace]diskSizes // of sharded collections, read while summing
	once    bool                    // all sizes are read once, and those on disk only where they come with the others
	pending map[Namespace]Sizes     // read, not yet published
	failing map[Namespace]error
	flushed time.Time
}

func newSurveyor(w *Watcher) *surveyor {
	return &surveyor{w: w, asked: make(map[Namespace]time.Time), onDisk: make(map[Namespace]diskSizes),
		pending: make(map[Namespace]Sizes), failing: make(map[Namespace]error)}
}

// diskSizes are the sizes of one life of a collection as $collStats tells them.
type diskSizes struct {
	of     [16]byte // the collection's UUID
	shards map[string]Size
}

// onDiskEvery is how many times less often a sharded collection's bytes on disk and of indexes are read than its other
// sizes, where all others come with one command: they take a command for each collection.
const onDiskEvery = 10

// flushEvery is how long figures wait for others before they are published
// together.
const flushEvery = 2 * time.Second

// notFoundPause is how long a collection is left alone that was not there when
// its sizes were asked for: it may come back as another one.
const notFoundPause = 5 * time.Second

// turn makes at most one size read, plus once per period the lists, the disks
// and the reading of all sizes at once.
func (s *surveyor) turn(ctx context.Context) {
	now, period := time.Now(), s.w.o.Statistics
	if s.listed.IsZero() || now.Sub(s.listed) >= period {
		s.listed = now
		s.w.listUnsharded(ctx)
	}
	if s.summed.IsZero() || now.Sub(s.summed) >= period {
		s.summed = now
		s.sum(ctx)
	}
	if s.weighed.IsZero() || now.Sub(s.weighed) >= period {
		s.weighed = now
		s.disks(ctx)
	}
	ns, due := s.next(s.w.Table(), now)
	if due {
		s.asked[ns] = now
		read, cancel := context.WithTimeout(ctx, s.w.o.Timeout)
		sizes, err := s.w.src.Sizes(read, ns)
		cancel()
		if ctx.Err() != nil {
			return
		}
		switch c := s.w.Table().Collection(ns); {
		case c == nil || !s.summing || c.Unsplittable:
			s.take(ns, sizes, err)
		case err == nil:
			s.onDisk[ns] = diskSizes{c.Incarnation.UUID, sizes.Shards}
			s.take(ns, s.withDisk(s.newest(ns, sizes)), nil)
		} // else the other sizes are there, and these are tried again
	}
	// What somebody looks at is published at once, the rest a few together. A
	// cluster without collections is told as read, too.
	switch {
	case len(s.pending) > 0 && (!due || now.Sub(s.flushed) >= flushEvery || s.w.viewed.recently(ns, now)),
		!due && s.w.Table().Health[PartSizes].At.IsZero() && len(s.failing) == 0:
		s.flush(now)
	}
}

// sum asks for all sharded collections at once, where the server can.
func (s *surveyor) sum(ctx context.Context) {
	read, cancel := context.WithTimeout(ctx, s.w.o.Timeout)
	defer cancel()
	all, err := s.w.src.AllSizes(read)
	s.summing = err == nil
	if err != nil {
		return // collection by collection then, which reports what is wrong
	}
	for _, one := range all {
		s.take(one.NS, s.withDisk(one), nil)
	}
	s.flush(time.Now())
}

// withDisk adds the bytes on disk and of indexes that were read last.
func (s *surveyor) withDisk(sizes Sizes) Sizes {
	disk, ok := s.onDisk[sizes.NS]
	if c := s.w.Table().Collection(sizes.NS); !ok || c == nil || c.Incarnation.UUID != disk.of {
		return sizes
	}
	all := make(map[string]Size, len(disk.shards))
	maps.Copy(all, sizes.Shards)
	for shard, on := range disk.shards {
		one, has := all[shard]
		if !has { // nothing that it owns, and yet files
			none := Figure{Known: true, Exact: true, Method: "shardedDataDistribution", At: sizes.At}
			one = Size{Bytes: none, Documents: none, Orphans: on.Orphans}
		}
		one.Storage, one.Indexes = on.Storage, on.Indexes
		all[shard] = one
	}
	sizes.Shards = all
	return sizes
}

// newest are the sizes of a collection that are known, or else these.
func (s *surveyor) newest(ns Namespace, otherwise Sizes) Sizes {
	if known, ok := s.pending[ns]; ok {
		return known
	}
	if known, ok := s.w.Table().Sizes[ns]; ok && known.Reason == "" {
		return known
	}
	return otherwise
}

// next is the collection whose sizes are due: first never read ones, viewed
// collections before others, then by age. A viewed one is due four times as often.
func (s *surveyor) next(t *Table, now time.Time) (Namespace, bool) {
	var best Namespace
	var bestRank time.Duration
	found := false
	consider := func(ns Namespace, limit time.Duration) {
		seen := s.w.viewed.recently(ns, now)
		if seen {
			limit /= 4
		}
		rank := 1000 * time.Hour // never asked
		if at, ok := s.asked[ns]; ok {
			if !s.known(t, ns) {
				limit = notFoundPause // asked, but there was no such collection, or another one of that name
			}
			if rank = now.Sub(at); rank < limit {
				return
			}
		}
		if seen {
			rank += 2000 * time.Hour
		}
		if !found || rank > bestRank {
			best, bestRank, found = ns, rank, true
		}
	}
	for _, c := range t.Collections {
		if !s.summing || c.Unsplittable { // $shardedDataDistribution is of sharded ones only
			consider(c.NS, s.w.o.Statistics)
		}
	}
	for d := range t.Missing { // no server has an answer for what is damaged there
		if d.NoRoom != nil && (!s.summing || !s.known(t, d.NS)) {
			consider(d.NS, s.w.o.Statistics)
		}
	}
	for _, ns := range t.Unsharded {
		consider(ns, s.w.o.Statistics)
	}
	if s.summing && !s.once { // after the others, of which nothing is known without a read
		for _, c := range t.Collections {
			consider(c.NS, onDiskEvery*s.w.o.Statistics)
		}
	}
	return best, found
}

// known tells whether there is anything to show of a collection, a failure included.
func (s *surveyor) known(t *Table, ns Namespace) bool {
	if _, ok := s.pending[ns]; ok {
		return true
	}
	_, ok := t.Sizes[ns]
	return ok
}

// take keeps one read's outcome for the next flush. After a failure the last
// good figures stay, with the reason beside them.
func (s *surveyor) take(ns Namespace, sizes Sizes, err error) {
	delete(s.failing, ns)
	if err != nil {
		if fault.Of(err) == fault.NotFound {
			return // dropped in between
		}
		s.failing[ns] = err
		old, ok := s.pending[ns]
		if !ok {
			old = s.w.Table().Sizes[ns]
		}
		sizes = Sizes{NS: ns, Shards: old.Shards, At: old.At, Reason: reasonOf(err), Buckets: old.Buckets}
	}
	t := s.w.Table()
	c, d := t.Collection(ns), t.DamageOf(ns)
	sizes.Sharded = c != nil && !c.Unsplittable || c == nil && d != nil && !d.Unsplittable
	s.pending[ns] = sizes
}
