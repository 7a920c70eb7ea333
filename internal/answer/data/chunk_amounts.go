package data

import (
	"maps"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// ChunkAmounts are the bytes, documents or writes of one collection's chunks. What was measured or
// counted of single chunks is told apart from the estimate of the others, which divides what their
// shard has left equally among them.
type ChunkAmounts struct {
	Reason  string             // why nothing is known; "" = known
	On      map[string]float64 // by shard
	Single  map[int]float64    // chunks of which something is known alone, by position
	Others  map[string]float64 // of each other chunk, by shard
	Exact   bool               // what is on each shard is no estimate
	Sure    bool               // the amounts of single are no estimates
	AtLeast bool
	Window  heat.Window // of writes
}

// Of is the amount of the chunk at a position.
func (a ChunkAmounts) Of(i int, owner string) float64 {
	if x, ok := a.Single[i]; ok {
		return x
	}
	return a.Others[owner]
}

// Total is the amount on all shards.
func (a ChunkAmounts) Total() (sum float64) {
	for _, x := range a.On {
		sum += x
	}
	return sum
}

// SizeAmounts are the bytes or documents of a collection, sharded or not; c is nil for one without
// chunks.
func SizeAmounts(v answer.View, ns topology.Namespace, c *topology.Collection, by string) ChunkAmounts {
	out := ChunkAmounts{On: map[string]float64{}, Exact: true, Sure: true}
	var chunks map[string]int
	if c != nil {
		chunks = c.Chunks.CountByShard()
	}
	parts, absent := v.Table.PartsOf(ns)
	there := 0
	for shard := range parts {
		if v.Table.Shard(shard) == nil {
			continue
		}
		there++
		size := parts[shard]
		f := figureBy(&size, by)
		if !f.Known && c != nil && chunks[shard] == 0 {
			continue // statistics list the shards that own chunks
		}
		if !f.Known {
			return ChunkAmounts{Reason: f.Reason}
		}
		if f.Value != 0 {
			out.On[shard] = float64(f.Value)
		}
		// $collStats reports what the storage engine keeps count of: no estimate of ours.
		out.Exact = out.Exact && (f.Exact || f.Method == "collStats")
	}
	if f := figureBy(&absent, by); !f.Known && there < len(v.Table.Shards) {
		for _, s := range v.Table.Shards {
			if _, has := parts[s.Name]; !has && (c == nil || chunks[s.Name] > 0) {
				return ChunkAmounts{Reason: f.Reason}
			}
		}
	}
	if c == nil {
		return out
	}
	out.Single, out.Others = map[int]float64{}, map[string]float64{}
	rest, counts := maps.Clone(out.On), maps.Clone(chunks)
	if v.Sizes != nil {
		for i, s := range v.Sizes.Known(c) {
			f := s.Bytes
			if by == OfDocuments {
				f = s.Documents
			}
			if !f.Known {
				continue
			}
			owner := c.Chunks.Owner(i)
			out.Single[i] = float64(f.Value)
			out.Sure = out.Sure && s.Exact
			rest[owner] -= float64(f.Value)
			counts[owner]--
		}
	}
	for shard, n := range counts {
		if n > 0 {
			out.Others[shard] = max(rest[shard], 0) / float64(n)
		}
	}
	return out
}

func figureBy(s *topology.Size, by string) topology.Figure {
	if by == OfDocuments {
		return s.Documents
	}
	return s.Bytes
}

// WriteAmounts are the writes per second that were counted of a collection lately.
func WriteAmounts(v answer.View, h writes.HeatSource, c *topology.Collection) ChunkAmounts {
	w := h.Counts.Window(c.NS, v.WritesWindow())
	if w.Seconds == 0 {
		return ChunkAmounts{Reason: "notCounted"}
	}
	out := ChunkAmounts{On: map[string]float64{}, Single: map[int]float64{}, Window: w, Exact: w.Total.Exact, Sure: w.Total.Exact,
		AtLeast: w.Total.AtLeast}
	for _, l := range w.Chunks(v.Table, v.Profile) {
		out.Single[l.Chunk] = l.Rate.PerSecond
		out.On[l.Shard] += l.Rate.PerSecond
	}
	return out
}

// MeasuredOf tells whether a chunk's amount is no estimate.
func (a ChunkAmounts) MeasuredOf(i int) bool {
	_, alone := a.Single[i]
	return a.Sure && (alone || a.Others == nil)
}

// What a shard can have more of than its even share.
const (
	OfBytes     = "bytes"
	OfDocuments = "documents"
	OfWrites    = "writes"
)
