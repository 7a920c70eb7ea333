package chunksize

import (
	"time"

	"shardboard/internal/balance"
	"shardboard/internal/topology"
)

// The methods of the figures (catalogue codes).
const (
	MethodExact    = "dataSize"         // every row was read
	MethodEstimate = "dataSizeEstimate" // rows counted by the index, times their mean
	MethodShare    = "chunkShare"       // the shard's amount divided by its chunks there
)

// Size is what is known of one chunk.
type Size struct {
	Documents topology.Figure
	Bytes     topology.Figure
	Measured  bool          // with dataSize; else estimated from the shard's figures, or not known
	Exact     bool          // every row was read
	At        time.Time     // of the measurement
	Took      time.Duration // of the measurement, on the servers
	donorMean int64         // bytes of a document by which the shards estimated it
	Reason    string        // why it was not measured when somebody tried (catalogue code); "" otherwise
	ReasonAt  time.Time
}

// Mean is the bytes of a document on average, 0 when not known.
func (s Size) Mean() int64 {
	if !s.Documents.Known || !s.Bytes.Known || s.Documents.Value <= 0 {
		return 0
	}
	return s.Bytes.Value / s.Documents.Value
}

// sizeOf is a measurement as figures.
func sizeOf(r topology.RangeSize) Size {
	f := topology.Figure{Known: true, Exact: r.Exact, Method: MethodEstimate, At: r.At}
	if r.Exact {
		f.Method = MethodExact
	}
	s := Size{Documents: f, Bytes: f, Measured: true, Exact: r.Exact, At: r.At, Took: r.Took, donorMean: r.Mean}
	s.Documents.Value, s.Bytes.Value = r.Documents, r.Bytes
	return s
}

// ShareOf estimates a chunk of a shard from what the statistics say of the
// shard: its documents and bytes divided by its chunks. It asks nothing.
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

// DonorMean is the mean size of a collection's documents on a shard, which is
// what a donor reckons with: as the estimate of dataSize was made with it, else
// from the shard's statistics, else that of the chunk itself.
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

// ChunkBytes is the chunk size that counts for a collection; 0 when not known.
func ChunkBytes(t *topology.Table, c *topology.Collection) int64 {
	if c.MaxChunkBytes > 0 {
		return c.MaxChunkBytes
	}
	return t.Balancer.ChunkBytes
}

// State reports whether a donor would move a chunk.
type State string

// The states. Near is a fifth below or above the limit, by an estimate.
const (
	Fits    State = "fits"
	Near    State = "near"
	TooBig  State = "tooBig"
	Unknown State = "unknown"
)

// Verdict is the donor's rule applied to one chunk.
type Verdict struct {
	State      State
	Limit      int64 // documents that it may have
	ChunkBytes int64
	Mean       int64           // bytes of a document that the limit is made of
	Release    balance.Release // whose rule it is
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

// Oversized reports whether the donor would refuse the chunk, as far as is known.
func (v Verdict) Oversized(s Size) bool {
	return v.State == TooBig || v.State == Near && s.Documents.Value > v.Limit
}

func near(n, limit int64) bool {
	d := float64(n - limit)
	return d <= balance.NearLimit*float64(limit) && -d <= balance.NearLimit*float64(limit)
}
