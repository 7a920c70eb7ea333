package actions

import (
	"slices"
	"sort"

	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// futureChunk is a chunk as it will be after the steps planned so far.
type futureChunk struct {
	Min, Max shardkey.Key
	Shard    string
	Version  topology.Version
	Jumbo    bool
	changed  bool // by a step of this plan, so its version is not known
}

type key = shardkey.Key

// futureChunks are a collection's chunks as they will be after the steps planned
// so far. It stores only the differences from the table's chunk map, so that the
// cost of planning follows what the plan changes, not the number of chunks.
type futureChunks struct {
	c       *topology.Collection
	changed []futureChunk    // the differences, sorted; each chunk of the map is covered completely or not at all
	delta   map[string]int64 // change of the number of chunks, by shard
	donated map[string]bool  // shards that a planned move takes a chunk from
}

func newFutureChunks(c *topology.Collection) *futureChunks {
	return &futureChunks{c: c, delta: map[string]int64{}, donated: map[string]bool{}}
}

// at returns the chunk that will contain a key.
func (k *futureChunks) at(key shardkey.Key) futureChunk {
	i := sort.Search(len(k.changed), func(i int) bool { return k.changed[i].Max.Compare(key) > 0 })
	if i < len(k.changed) && k.changed[i].Min.Compare(key) <= 0 {
		return k.changed[i]
	}
	_, ch := k.c.Chunks.Find(key)
	return futureChunk{Min: ch.Min, Max: ch.Max, Shard: ch.Shard, Version: ch.Version, Jumbo: ch.Jumbo}
}

// within returns the chunks that overlap [lo, hi), in key order.
func (k *futureChunks) within(lo, hi shardkey.Key) []futureChunk {
	var out []futureChunk
	if len(k.changed) == 0 {
		from, to := k.c.Chunks.Overlap(shardkey.Range{Min: lo, Max: hi})
		for _, ch := range k.c.Chunks.Range(from, to) {
			out = append(out, futureChunk{Min: ch.Min, Max: ch.Max, Shard: ch.Shard, Version: ch.Version, Jumbo: ch.Jumbo})
		}
		return out
	}
	for at := lo; at.Compare(hi) < 0; {
		p := k.at(at)
		out = append(out, p)
		if p.Max.Compare(at) <= 0 { // the upper end of the key space
			break
		}
		at = p.Max
	}
	return out
}

// replace replaces the chunks of a range by others that cover the same range.
func (k *futureChunks) replace(with ...futureChunk) {
	lo, hi := with[0].Min, with[len(with)-1].Max
	for _, p := range k.within(lo, hi) {
		k.delta[p.Shard]--
	}
	for i := range with {
		with[i].changed = true
		k.delta[with[i].Shard]++
	}
	from := sort.Search(len(k.changed), func(i int) bool { return k.changed[i].Min.Compare(lo) >= 0 })
	to := sort.Search(len(k.changed), func(i int) bool { return k.changed[i].Min.Compare(hi) >= 0 })
	k.changed = slices.Replace(k.changed, from, to, with...)
}

// cut splits the chunk that contains the key; false when a chunk begins there already.
func (k *futureChunks) cut(at shardkey.Key) bool {
	p := k.at(at)
	if p.Min.Compare(at) == 0 {
		return false
	}
	left, right := p, p
	left.Max, right.Min = at, at
	k.replace(left, right)
	return true
}

// setShard moves the chunks of a range to a shard. Chunks begin and end at its ends.
func (k *futureChunks) setShard(lo, hi shardkey.Key, shard string) {
	parts := slices.Clone(k.within(lo, hi))
	for i := range parts {
		k.donated[parts[i].Shard] = true
		parts[i].Shard = shard
	}
	k.replace(parts...)
}

// preconditions returns the fields of a chunk that a command on it relies on. The
// version is left out if an earlier step of the plan changes it: a move gives one
// other chunk of its donor a new version.
func (k *futureChunks) preconditions(p futureChunk) map[string]string {
	want := map[string]string{"exists": "true", "shard": p.Shard}
	if !p.changed && !k.donated[p.Shard] {
		want["lastmod"] = p.Version.String()
	}
	return want
}

// chunks returns the chunk map after the steps; nil when it cannot be built, because a
// chunk is split at a key that only the server knows.
func (k *futureChunks) chunks() *topology.ChunkMap {
	if len(k.changed) == 0 {
		return k.c.Chunks
	}
	rows := make([]topology.Chunk, len(k.changed))
	next := k.c.Chunks.Highest().Major + 1
	for i, p := range k.changed {
		rows[i] = topology.Chunk{Min: p.Min, Max: p.Max, Shard: p.Shard, Jumbo: p.Jumbo, Version: topology.Version{Major: next, Minor: uint32(i)}}
	}
	m, _, err := k.c.Chunks.Apply(rows)
	if err != nil {
		return nil
	}
	return m
}

// counts returns the number of chunks per shard, before and after the steps.
func (k *futureChunks) counts() map[string][2]int64 {
	out := map[string][2]int64{}
	for shard, n := range k.c.Chunks.CountByShard() {
		out[shard] = [2]int64{int64(n), int64(n)}
	}
	for shard, d := range k.delta {
		n := out[shard]
		n[1] += d
		out[shard] = n
	}
	return out
}

func byName(a, b *topology.Collection) int { return natural.Compare(a.NS, b.NS) }
