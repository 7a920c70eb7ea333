package chunksize

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Bounds of what measuring costs.
const (
	PerMinute       = 20 // estimates in the background
	DemandPerMinute = 60 // measurements on demand, estimates and exact ones
	atOnce          = 2  // of those on demand

	estimateTime = 3 * time.Second  // deadline of one estimate
	ExactTime    = 10 * time.Second // deadline of one exact measurement
)

// What is kept.
const (
	kept       = 20_000           // chunks
	wantedMost = 500              // chunks that somebody looks at
	wantedFor  = 2 * time.Minute  // since the last look
	renewAfter = 10 * time.Minute // measurements of chunks that are looked at
	freshFor   = 30 * time.Second // on demand, an answer this young is given again
	retryAfter = 10 * time.Minute // after a chunk took too long, or was not permitted
	restAfter  = time.Minute      // after the cluster did not answer
	dutyCycle  = 20               // pause after an estimate, in times of what it took
)

// Source measures one range of a shard key.
type Source interface {
	RangeSize(ctx context.Context, m topology.Meta, r shardkey.Range, exact bool) (topology.RangeSize, error)
}

// Tables is where the routing table comes from.
type Tables interface {
	Table() *topology.Table
}

// Book measures chunks and keeps what it measured. Safe for concurrent use.
type Book struct {
	src    Source
	tables Tables
	log    *slog.Logger
	now    func() time.Time

	flights singleflight.Group
	gate    chan struct{}
	wake    chan struct{}

	mu      sync.Mutex
	seq     uint64
	entries *simplelru.LRU[place, *entry]
	books   map[identity]map[string]*entry // the same, by the encoded lower bound
	wanted  map[place]want
	looked  uint64
	denied  map[topology.Namespace]time.Time // until when nothing is asked in the background
	demands []time.Time                      // of the last minute; a token bucket would let twice as many through in one
	last    knownList
}

// knownList is the last answer of Known, which holds until something is measured
// or the chunks change.
type knownList struct {
	of     identity
	chunks *topology.ChunkMap
	seq    uint64
	sizes  map[int]Size
}

// identity is one life of a collection.
type identity struct {
	ns   topology.Namespace
	life topology.Incarnation
}

func identityOf(c *topology.Collection) identity { return identity{c.NS, c.Incarnation} }

// place is a chunk by its lower bound.
type place struct {
	of  identity
	min string
}

// want is a chunk that somebody looks at.
type want struct {
	c     *topology.Collection
	r     shardkey.Range
	until time.Time
	look  uint64 // the look at which it was asked for last
	order int    // place in that look
}

// entry is what is known of one chunk.
type entry struct {
	max      string
	size     topology.RangeSize
	measured bool
	reason   string
	failed   time.Time
}

// New makes a book in which nothing is written. A nil log discards.
func New(src Source, tables Tables, log *slog.Logger) *Book {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	b := &Book{
		src: src, tables: tables, log: log, now: time.Now,
		gate: make(chan struct{}, atOnce), wake: make(chan struct{}, 1),
		books: map[identity]map[string]*entry{}, wanted: map[place]want{}, denied: map[topology.Namespace]time.Time{},
	}
	b.entries, _ = simplelru.NewLRU(kept, b.forgotten) // fails for no room only
	return b
}

// Seq grows with every measurement, so that a page knows when to be drawn again.
func (b *Book) Seq() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// Of is what was measured of a chunk; false when nothing was, and then perhaps
// why. The figures are as old as they say.
func (b *Book) Of(c *topology.Collection, ch topology.Chunk) (Size, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entry(place{identityOf(c), ch.Min.Encoded()}, ch.Max.Encoded())
	if e == nil {
		if until := b.denied[c.NS]; b.now().Before(until) {
			return Size{Reason: "notPermitted", ReasonAt: until.Add(-retryAfter)}, false
		}
		return Size{}, false
	}
	return e.shown(), e.measured
}

// shown is an entry for people.
func (e *entry) shown() Size {
	var s Size
	if e.measured {
		s = sizeOf(e.size)
	}
	s.Reason, s.ReasonAt = e.reason, e.failed
	return s
}

// entry finds what is kept of a chunk with these bounds; the caller holds the lock.
func (b *Book) entry(p place, max string) *entry {
	e, ok := b.entries.Get(p)
	if !ok {
		return nil
	}
	if e.max != max { // split or merged meanwhile
		b.entries.Remove(p)
		return nil
	}
	return e
}

// forgotten keeps books equal to entries.
func (b *Book) forgotten(p place, _ *entry) {
	delete(b.books[p.of], p.min)
	if len(b.books[p.of]) == 0 {
		delete(b.books, p.of)
	}
}

// Known are the measured chunks of a collection by their position, as far as
// their bounds are still those of the table. It costs what is kept of the
// collection, never what the collection has. The map must not be changed.
func (b *Book) Known(c *topology.Collection) map[int]Size {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.last; l.sizes != nil && l.of == identityOf(c) && l.chunks == c.Chunks && l.seq == b.seq {
		return l.sizes
	}
	of := identityOf(c)
	out := make(map[int]Size, len(b.books[of]))
	for min, e := range b.books[of] {
		i, ch := c.Chunks.FindEncoded(min)
		switch {
		case i < 0 || ch.Min.Encoded() != min || ch.Max.Encoded() != e.max:
			b.entries.Remove(place{of, min})
		case e.measured:
			out[i] = e.shown()
		}
	}
	b.last = knownList{of: of, chunks: c.Chunks, seq: b.seq, sizes: out}
	return out
}

// keep writes a measurement, or why there is none; what was measured before
// stays then.
func (b *Book) keep(c *topology.Collection, r shardkey.Range, size topology.RangeSize, err error) {
	p, max := place{identityOf(c), r.Min.Encoded()}, r.Max.Encoded()
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entry(p, max)
	if e == nil {
		e = &entry{max: max}
		b.entries.Add(p, e)
		if b.books[p.of] == nil {
			b.books[p.of] = map[string]*entry{}
		}
		b.books[p.of][p.min] = e
	}
	b.seq++
	if err != nil {
		e.reason, e.failed = ReasonOf(err), b.now()
		return
	}
	if size.Mean == 0 && e.measured {
		size.Mean = e.size.Mean // reading every row does not tell what the donor reckons with
	}
	e.size, e.measured, e.reason, e.failed = size, true, "", time.Time{}
}

// ReasonOf is the catalogue code of why a chunk could not be measured.
func ReasonOf(err error) string {
	switch {
	case fault.Of(err) == fault.Forbidden:
		return "notPermitted"
	case errors.Is(err, topology.ErrMeasuredOften):
		return "tooManyMeasured"
	case fault.Of(err) == fault.Conflict:
		return "changed"
	case errors.Is(err, context.DeadlineExceeded):
		return "tooSlow"
	case fault.Of(err) == fault.Unavailable:
		return "unreachable"
	}
	return "failed"
}
