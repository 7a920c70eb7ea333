package chunksize

import (
	"time"

	"shardboard/internal/balance"
	"shardboard/internal/topology"
)

// How a figure was determined (message codes).
const (
	MethodExact    = "dataSize"         // every document was read
	MethodEstimate = "dataSizeEstimate" // index entries times the mean document size
	MethodShare    = "chunkShare"       // the shard's total divided by its number of chunks
)

// Size is the size of one chunk, as far as known.
type Size struct {
	Documents topology.Figure
	Bytes     topology.Figure
	Measured  bool          // with dataSize; otherwise estimated from the shard's statistics, or unknown
	Exact     bool          // every document was read
	At        time.Time     // of the measurement
	Took      time.Duration // of the measurement, on the servers
	donorMean int64         // mean document size used by the shards' estimate
	Reason    string        // why the last measurement failed (message code), or ""
	ReasonAt  time.Time
}

// Mean is the mean document size in bytes, 0 if unknown.
func (s Size) Mean() int64 {
	if !s.Documents.Known || !s.Bytes.Known || s.Documents.Value <= 0 {
		return 0
	}
	return s.Bytes.Value / s.Documents.Value
}

// sizeOf converts a measurement to a Size.
func sizeOf(r topology.RangeSize) Size {
	f := topology.Figure{Known: true, Exact: r.Exact, Method: MethodEstimate, At: r.At}
	if r.Exact {
		f.Method = MethodExact
	}
	s := Size{Documents: f, Bytes: f, Measured: true, Exact: r.Exact, At: r.At, Took: r.Took, donorMean: r.Mean}
	s.Documents.Value, s.Bytes.Value = r.Documents, r.Bytes
	return s
}

// ShareOf estimates a chunk from known statistics: the shard's documents and bytes
// divided by its number of chunks.
func ShareOf(t *topology.Table, c *topology.Collection, shard string, chunks int) Size {
	on := t.SizeOn(c.NS, shard)
	share := func(f topology.Figure) topology.Figure {
		if !f.Known || chunks <= 0 {
			if f.Known {
				f = topology.Figure{Reason: "notLoaded"}
			}
			return f
		}
		f.Value /= int64(chunks)
		f.Exact, f.PlusMinus, f.Method = false, 0, MethodShare
		return f
	}
	return Size{Documents: share(on.Documents), Bytes: share(on.Bytes)}
}

// DonorMean is the mean document size of a collection on a shard, which the donor uses:
// from the estimate of dataSize, or else from the shard's statistics, or else of the
// chunk itself.
func DonorMean(t *topology.Table, ns topology.Namespace, shard string, s Size) int64 {
	if s.donorMean > 0 {
		return s.donorMean
	}
	on := t.SizeOn(ns, shard)
	if on.Documents.Known && on.Bytes.Known && on.Documents.Value > 0 {
		return on.Bytes.Value / on.Documents.Value
	}
	return s.Mean()
}

// ChunkBytes is the configured chunk size of a collection; 0 if unknown.
func ChunkBytes(t *topology.Table, c *topology.Collection) int64 {
	if c.MaxChunkBytes > 0 {
		return c.MaxChunkBytes
	}
	return t.Balancer.ChunkBytes
}

// State reports whether a donor would move a chunk.
type State string

// The states. Near means an estimate within a fifth of the limit.
const (
	Fits    State = "fits"
	Near    State = "near"
	TooBig  State = "tooBig"
	Unknown State = "unknown"
)

// Verdict is the result of the donor's rule for one chunk.
type Verdict struct {
	State      State
	Limit      int64 // largest allowed number of documents
	ChunkBytes int64
	Mean       int64           // mean document size from which the limit was computed
	Release    balance.Release // release of the rule
}

// Judge applies the rule of the cluster's release to a chunk of a shard.
func Judge(t *topology.Table, c *topology.Collection, shard string, s Size) Verdict {
	v := Verdict{State: Unknown, ChunkBytes: ChunkBytes(t, c), Mean: DonorMean(t, c.NS, shard, s),
		Release: balance.ReleaseOf(t.ServerInfo.Version)}
	if !s.Documents.Known || v.ChunkBytes <= 0 {
		return v
	}
	n := s.Documents.Value
	if n == 0 {
		v.State = Fits
		v.Limit = v.Release.MoveLimit(v.ChunkBytes, v.Mean)
		return v
	}
	if v.Mean <= 0 {
		return v
	}
	v.Limit = v.Release.MoveLimit(v.ChunkBytes, v.Mean)
	v.State = Fits
	if n > v.Limit {
		v.State = TooBig
	}
	if !s.Exact && near(n, v.Limit) {
		v.State = Near
	}
	return v
}

// Oversized reports whether the donor would refuse the chunk, as far as known.
func (v Verdict) Oversized(s Size) bool {
	return v.State == TooBig || v.State == Near && s.Documents.Value > v.Limit
}

func near(n, limit int64) bool {
	d := float64(n - limit)
	return d <= balance.NearLimit*float64(limit) && -d <= balance.NearLimit*float64(limit)
}
