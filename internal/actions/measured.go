package actions

import (
	"context"

	"shardboard/internal/balance"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Sizes measures ranges of collections. The errors are fault.Forbidden and
// fault.Unavailable; the latter wraps context.DeadlineExceeded when it took too
// long, and topology.ErrMeasuredOften when it was not begun.
type Sizes interface {
	RangeSize(ctx context.Context, c *topology.Collection, r shardkey.Range, exact bool) (topology.RangeSize, error)
}

// Measured is what was measured for a plan.
type Measured struct {
	Ranges map[Span]topology.RangeSize
	// Reason is why some were not: "notPermitted", "tooSlow", "unreachable", "tooMany",
	// "tooManyMeasured"; "" when nobody tried.
	Reason string
}

// The methods of measured figures (catalogue codes).
const (
	methodExact    = "dataSize"
	methodEstimate = "dataSizeEstimate"
)

// figure is a measured range's bytes or documents.
func (m Measured) figure(s Span, of func(topology.Size) topology.Figure) (topology.Figure, bool) {
	r, ok := m.Ranges[s]
	if !ok {
		return topology.Figure{}, false
	}
	f := topology.Figure{Known: true, Exact: r.Exact, Method: methodEstimate, At: r.At}
	if r.Exact {
		f.Method = methodExact
	}
	size := topology.Size{Bytes: f, Documents: f}
	size.Bytes.Value, size.Documents.Value = r.Bytes, r.Documents
	return of(size), true
}

// NearLimit tells whether an estimate is so close to what a donor moves that the
// range is worth being read: within a fifth of the limit.
func (s Situation) NearLimit(span Span, r topology.RangeSize) bool {
	c := s.Table.Collection(span.NS)
	if c == nil || r.Documents == 0 {
		return false
	}
	_, ch := c.Chunks.Find(span.Min)
	l := s.moveLimit(c, ch.Shard, r)
	return l.known && near(r.Documents, l.documents)
}

func near(n, limit int64) bool {
	d := float64(n - limit)
	return d <= balance.NearLimit*float64(limit) && -d <= balance.NearLimit*float64(limit)
}

// moveLimit is what a donor moves of a collection at once.
type moveLimit struct {
	known      bool
	documents  int64
	chunkBytes int64
	mean       int64 // bytes of a document that the donor reckons with
}

// moveLimit applies the donor's rule: its mean is the one by which the shards
// estimated, else that of the shard's statistics, else that of the range.
func (s Situation) moveLimit(c *topology.Collection, shard string, r topology.RangeSize) moveLimit {
	l := moveLimit{chunkBytes: chunkBytes(s.Table, c), mean: r.Mean}
	if on := s.Table.SizeOn(c.NS, shard); l.mean == 0 && on.Documents.Known && on.Bytes.Known && on.Documents.Value > 0 {
		l.mean = on.Bytes.Value / on.Documents.Value
	}
	if l.mean == 0 && r.Documents > 0 {
		l.mean = r.Bytes / r.Documents
	}
	l.known = l.chunkBytes > 0 && (l.mean > 0 || r.Documents == 0)
	l.documents = s.Release.MoveLimit(l.chunkBytes, l.mean)
	return l
}

// chunkBytes is the chunk size that counts for a collection; 0 when not known.
func chunkBytes(t *topology.Table, c *topology.Collection) int64 {
	if c.MaxChunkBytes > 0 {
		return c.MaxChunkBytes
	}
	return t.Balancer.ChunkBytes
}
