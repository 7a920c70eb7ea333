package answer

import (
	"maps"

	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// chunkAmounts are the bytes, documents or writes of one collection's chunks. What was measured or
// counted of single chunks is told apart from the estimate of the others, which divides what their
// shard has left equally among them.
type chunkAmounts struct {
	reason  string             // why nothing is known; "" = known
	on      map[string]float64 // by shard
	single  map[int]float64    // chunks of which something is known alone, by position
	others  map[string]float64 // of each other chunk, by shard
	exact   bool               // what is on each shard is no estimate
	sure    bool               // the amounts of single are no estimates
	atLeast bool
	window  heat.Window // of writes
}

// of is the amount of the chunk at a position.
func (a chunkAmounts) of(i int, owner string) float64 {
	if x, ok := a.single[i]; ok {
		return x
	}
	return a.others[owner]
}

// total is the amount on all shards.
func (a chunkAmounts) total() (sum float64) {
	for _, x := range a.on {
		sum += x
	}
	return sum
}

// sizeAmounts are the bytes or documents of a collection, sharded or not; c is nil for one without
// chunks.
func sizeAmounts(v View, ns topology.Namespace, c *topology.Collection, by string) chunkAmounts {
	out := chunkAmounts{on: map[string]float64{}, exact: true, sure: true}
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
			return chunkAmounts{reason: f.Reason}
		}
		if f.Value != 0 {
			out.on[shard] = float64(f.Value)
		}
		// $collStats reports what the storage engine keeps count of: no estimate of ours.
		out.exact = out.exact && (f.Exact || f.Method == "collStats")
	}
	if f := figureBy(&absent, by); !f.Known && there < len(v.Table.Shards) {
		for _, s := range v.Table.Shards {
			if _, has := parts[s.Name]; !has && (c == nil || chunks[s.Name] > 0) {
				return chunkAmounts{reason: f.Reason}
			}
		}
	}
	if c == nil {
		return out
	}
	out.single, out.others = map[int]float64{}, map[string]float64{}
	rest, counts := maps.Clone(out.on), maps.Clone(chunks)
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
			out.single[i] = float64(f.Value)
			out.sure = out.sure && s.Exact
			rest[owner] -= float64(f.Value)
			counts[owner]--
		}
	}
	for shard, n := range counts {
		if n > 0 {
			out.others[shard] = max(rest[shard], 0) / float64(n)
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

// writeAmounts are the writes per second that were counted of a collection lately.
func writeAmounts(v View, h HeatSource, c *topology.Collection) chunkAmounts {
	w := h.Counts.Window(c.NS, v.WritesWindow())
	if w.Seconds == 0 {
		return chunkAmounts{reason: "notCounted"}
	}
	out := chunkAmounts{on: map[string]float64{}, single: map[int]float64{}, window: w, exact: w.Total.Exact, sure: w.Total.Exact,
		atLeast: w.Total.AtLeast}
	for _, l := range w.Chunks(v.Table, v.Profile) {
		out.single[l.Chunk] = l.Rate.PerSecond
		out.on[l.Shard] += l.Rate.PerSecond
	}
	return out
}

// measuredOf tells whether a chunk's amount is no estimate.
func (a chunkAmounts) measuredOf(i int) bool {
	_, alone := a.single[i]
	return a.sure && (alone || a.others == nil)
}
