package chunksize

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

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
	books   map[collectionID]map[string]*list.Element // by the encoded lower bound
	order   *list.List                                // of *entry, the one used last in front
	wanted  map[chunkKey]viewedChunk
	looked  uint64
	denied  map[topology.Namespace]time.Time // until when nothing is asked in the background
	demands []time.Time                      // of the last minute
	last    knownList
}

// knownList is the last answer of Known, which holds until something is measured
// or the chunks change.
type knownList struct {
	of     collectionID
	chunks *topology.ChunkMap
	seq    uint64
	sizes  map[int]Size
}

// collectionID is one life of a collection.
type collectionID struct {
	ns   topology.Namespace
	life topology.Incarnation
}

func collectionIDOf(c *topology.Collection) collectionID { return collectionID{c.NS, c.Incarnation} }

// chunkKey is a chunk by its lower bound.
type chunkKey struct {
	of  collectionID
	min string
}

// viewedChunk is a chunk that somebody looks at.
type viewedChunk struct {
	c     *topology.Collection
	r     shardkey.Range
	until time.Time
	view  uint64 // the look at which it was asked for last
	order int    // place in that look
}

// entry is what is known of one chunk.
type entry struct {
	place    chunkKey
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
	return &Book{
		src: src, tables: tables, log: log, now: time.Now,
		gate: make(chan struct{}, atOnce), wake: make(chan struct{}, 1),
		books: map[collectionID]map[string]*list.Element{}, order: list.New(), wanted: map[chunkKey]viewedChunk{},
		denied: map[topology.Namespace]time.Time{},
	}
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
	e := b.entry(chunkKey{collectionIDOf(c), ch.Min.Encoded()}, ch.Max.Encoded())
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
func (b *Book) entry(p chunkKey, max string) *entry {
	el := b.books[p.of][p.min]
	if el == nil {
		return nil
	}
	e := el.Value.(*entry)
	if e.max != max { // split or merged meanwhile
		b.forget(el)
		return nil
	}
	b.order.MoveToFront(el)
	return e
}

func (b *Book) forget(el *list.Element) {
	e := b.order.Remove(el).(*entry)
	delete(b.books[e.place.of], e.place.min)
	if len(b.books[e.place.of]) == 0 {
		delete(b.books, e.place.of)
	}
}

// Known are the measured chunks of a collection by their position, as far as
// their bounds are still those of the table. It costs what is kept of the
// collection, never what the collection has. The map must not be changed.
func (b *Book) Known(c *topology.Collection) map[int]Size {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.last; l.sizes != nil && l.of == collectionIDOf(c) && l.chunks == c.Chunks && l.seq == b.seq {
		return l.sizes
	}
	of := b.books[collectionIDOf(c)]
	out := make(map[int]Size, len(of))
	var gone []*list.Element
	for min, el := range of {
		e := el.Value.(*entry)
		i, ch := c.Chunks.FindEncoded(min)
		switch {
		case i < 0 || ch.Min.Encoded() != min || ch.Max.Encoded() != e.max:
			gone = append(gone, el)
		case e.measured:
			out[i] = e.shown()
		}
	}
	for _, el := range gone {
		b.forget(el)
	}
	b.last = knownList{of: collectionIDOf(c), chunks: c.Chunks, seq: b.seq, sizes: out}
	return out
}

// record writes a measurement, or why there is none; what was measured before
// stays then.
func (b *Book) record(c *topology.Collection, r shardkey.Range, size topology.RangeSize, err error) {
	p, max := chunkKey{collectionIDOf(c), r.Min.Encoded()}, r.Max.Encoded()
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entry(p, max)
	if e == nil {
		e = &entry{place: p, max: max}
		if b.books[p.of] == nil {
			b.books[p.of] = map[string]*list.Element{}
		}
		b.books[p.of][p.min] = b.order.PushFront(e)
		for b.order.Len() > kept {
			b.forget(b.order.Back())
		}
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
