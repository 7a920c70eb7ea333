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

// Limits of the measuring load.
const (
	PerMinute       = 20 // estimates in the background
	DemandPerMinute = 60 // measurements on demand, estimates and exact ones
	atOnce          = 2  // concurrent measurements on demand

	estimateTime = 3 * time.Second  // deadline of one estimate
	ExactTime    = 10 * time.Second // deadline of one exact measurement
)

// What is kept, and for how long.
const (
	kept       = 20_000           // chunks
	wantedMost = 500              // viewed chunks
	wantedFor  = 2 * time.Minute  // since the last view
	renewAfter = 10 * time.Minute // age at which viewed chunks are measured again
	freshFor   = 30 * time.Second // age up to which a result is reused on demand
	retryAfter = 10 * time.Minute // after a chunk took too long, or was not permitted
	restAfter  = time.Minute      // after the cluster did not answer
	dutyCycle  = 20               // pause after an estimate, as a multiple of its duration
)

// Source measures one range of a shard key.
type Source interface {
	RangeSize(ctx context.Context, m topology.Meta, r shardkey.Range, exact bool) (topology.RangeSize, error)
}

// Tables provides the routing table.
type Tables interface {
	Table() *topology.Table
}

// Book measures chunks and caches the results. Safe for concurrent use.
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
	entries *simplelru.LRU[chunkKey, *entry]
	books   map[collectionID]map[string]*entry // the same, by the encoded lower bound
	wanted  map[chunkKey]viewedChunk
	looked  uint64
	denied  map[topology.Namespace]time.Time // no background measurements until this time
	demands []time.Time                      // of the last minute; a token bucket would let twice as many through in one
	last    knownList
}

// knownList caches the result of Known until something is measured or the chunks
// change.
type knownList struct {
	of     collectionID
	chunks *topology.ChunkMap
	seq    uint64
	sizes  map[int]Size
}

// collectionID identifies one incarnation of a collection.
type collectionID struct {
	ns   topology.Namespace
	life topology.Incarnation
}

func collectionIDOf(c *topology.Collection) collectionID { return collectionID{c.NS, c.Incarnation} }

// chunkKey identifies a chunk by its lower bound.
type chunkKey struct {
	of  collectionID
	min string
}

// viewedChunk is a chunk that a user looks at.
type viewedChunk struct {
	c     *topology.Collection
	r     shardkey.Range
	until time.Time
	view  uint64 // number of the latest view with this chunk
	order int    // position in that view
}

// entry has the measurement of one chunk.
type entry struct {
	max      string
	size     topology.RangeSize
	measured bool
	reason   string
	failed   time.Time
}

// New makes an empty book. A nil log discards.
func New(src Source, tables Tables, log *slog.Logger) *Book {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	b := &Book{
		src: src, tables: tables, log: log, now: time.Now,
		gate: make(chan struct{}, atOnce), wake: make(chan struct{}, 1),
		books: map[collectionID]map[string]*entry{}, wanted: map[chunkKey]viewedChunk{}, denied: map[topology.Namespace]time.Time{},
	}
	b.entries, _ = simplelru.NewLRU(kept, b.forgotten) // fails for no room only
	return b
}

// Seq increases with every measurement, so that pages know when to refresh.
func (b *Book) Seq() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// Of is the measurement of a chunk; false if there is none, possibly with the reason in
// Size.Reason. Size.At is its time.
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

// shown converts an entry to a Size.
func (e *entry) shown() Size {
	var s Size
	if e.measured {
		s = sizeOf(e.size)
	}
	s.Reason, s.ReasonAt = e.reason, e.failed
	return s
}

// entry returns the cached entry of a chunk with these bounds. The caller holds the
// lock.
func (b *Book) entry(p chunkKey, max string) *entry {
	e, ok := b.entries.Get(p)
	if !ok {
		return nil
	}
	if e.max != max { // the chunk was split or merged
		b.entries.Remove(p)
		return nil
	}
	return e
}

// forgotten keeps books equal to entries.
func (b *Book) forgotten(p chunkKey, _ *entry) {
	delete(b.books[p.of], p.min)
	if len(b.books[p.of]) == 0 {
		delete(b.books, p.of)
	}
}

// Known returns the measured chunks of a collection by position, if their bounds are
// still those of the table. Its cost depends on the number of cached entries, not of
// chunks. Do not modify the map.
func (b *Book) Known(c *topology.Collection) map[int]Size {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.last; l.sizes != nil && l.of == collectionIDOf(c) && l.chunks == c.Chunks && l.seq == b.seq {
		return l.sizes
	}
	of := collectionIDOf(c)
	out := make(map[int]Size, len(b.books[of]))
	for min, e := range b.books[of] {
		i, ch := c.Chunks.FindEncoded(min)
		switch {
		case i < 0 || ch.Min.Encoded() != min || ch.Max.Encoded() != e.max:
			b.entries.Remove(chunkKey{of, min})
		case e.measured:
			out[i] = e.shown()
		}
	}
	b.last = knownList{of: of, chunks: c.Chunks, seq: b.seq, sizes: out}
	return out
}

// record stores a measurement, or the reason for a failed one, which keeps the previous
// result.
func (b *Book) record(c *topology.Collection, r shardkey.Range, size topology.RangeSize, err error) {
	p, max := chunkKey{collectionIDOf(c), r.Min.Encoded()}, r.Max.Encoded()
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
		size.Mean = e.size.Mean // an exact measurement does not return the mean that the donor uses
	}
	e.size, e.measured, e.reason, e.failed = size, true, "", time.Time{}
}

// ReasonOf is the message code for why a chunk could not be measured.
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
