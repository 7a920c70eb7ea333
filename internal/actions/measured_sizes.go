package actions

import (
	"context"

	"shardboard/internal/balance"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Sizes measures ranges of collections. Errors are fault.Forbidden and
// fault.Unavailable. The latter wraps context.DeadlineExceeded if measuring took too
// long, and topology.ErrMeasuredOften if it was not started.
type Sizes interface {
	RangeSize(ctx context.Context, c *topology.Collection, r shardkey.Range, exact bool) (topology.RangeSize, error)
}

// Measured has the sizes that were measured for a plan.
type Measured struct {
	Ranges map[Span]topology.RangeSize
	// Reason says why some were not measured: "notPermitted", "tooSlow", "unreachable", "tooMany",
	// "tooManyMeasured"; "" if it was not tried.
	Reason string
}

// The methods of measured figures, as codes.
const (
	methodExact    = "dataSize"
	methodEstimate = "dataSizeEstimate"
)

// figure returns the bytes or documents of a measured range.
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

// NearLimit reports whether an estimate is so close to the donor's limit, within a fifth,
// that the range should be counted exactly.
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

// moveLimit is the most that a donor moves of a collection at once.
type moveLimit struct {
	known      bool
	documents  int64
	chunkBytes int64
	mean       int64 // bytes of an average document, as the donor assumes
}

// moveLimit applies the donor's rule. The mean size of a document is the one that the
// shards estimated with, else from the shard's statistics, else from the range.
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

// chunkBytes is the chunk size of a collection; 0 when not known.
func chunkBytes(t *topology.Table, c *topology.Collection) int64 {
	if c.MaxChunkBytes > 0 {
		return c.MaxChunkBytes
	}
	return t.Balancer.ChunkBytes
}
