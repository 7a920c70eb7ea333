package actions

import (
	"cmp"
	"slices"
	"sort"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// futureChunk is a chunk as it will be after the steps planned so far.
type futureChunk struct {
	Min, Max shardkey.Key
	Shard    string
	Version  topology.Version
	Jumbo    bool
	made     bool // by a step of this plan: its version is not known
}

type key = shardkey.Key

// futureChunks are a collection's chunks as they will be after the steps planned
// so far. Only what differs from the table's chunk map is kept, so that planning
// costs what a plan changes, however many chunks there are.
type futureChunks struct {
	c       *topology.Collection
	over    []futureChunk    // what differs, sorted; covers each chunk of the map wholly or not at all
	delta   map[string]int64 // chunks more or fewer, by shard
	donated map[string]bool  // shards that a planned move takes a chunk from
}

func newFutureChunks(c *topology.Collection) *futureChunks {
	return &futureChunks{c: c, delta: map[string]int64{}, donated: map[string]bool{}}
}

// at is the chunk that will hold a key.
func (k *futureChunks) at(key shardkey.Key) futureChunk {
	i := sort.Search(len(k.over), func(i int) bool { return k.over[i].Max.Compare(key) > 0 })
	if i < len(k.over) && k.over[i].Min.Compare(key) <= 0 {
		return k.over[i]
	}
	_, ch := k.c.Chunks.Find(key)
	return futureChunk{Min: ch.Min, Max: ch.Max, Shard: ch.Shard, Version: ch.Version, Jumbo: ch.Jumbo}
}

// within are the chunks that meet [lo, hi), in key order.
func (k *futureChunks) within(lo, hi shardkey.Key) []futureChunk {
	var out []futureChunk
	if len(k.over) == 0 {
		from, to := k.c.Chunks.Overlap(shardkey.Range{Min: lo, Max: hi})
		for _, ch := range k.c.Chunks.Range(from, to) {
			out = append(out, futureChunk{Min: ch.Min, Max: ch.Max, Shard: ch.Shard, Version: ch.Version, Jumbo: ch.Jumbo})
		}
		return out
	}
	for at := lo; at.Compare(hi) < 0; {
		p := k.at(at)
		out = append(out, p)
		if p.Max.Compare(at) <= 0 { // the upper end of the key space: nothing lies beyond
			break
		}
		at = p.Max
	}
	return out
}

// replace puts chunks in the place of those that fill the same range.
func (k *futureChunks) replace(with ...futureChunk) {
	lo, hi := with[0].Min, with[len(with)-1].Max
	for _, p := range k.within(lo, hi) {
		k.delta[p.Shard]--
	}
	for i := range with {
		with[i].made = true
		k.delta[with[i].Shard]++
	}
	from := sort.Search(len(k.over), func(i int) bool { return k.over[i].Min.Compare(lo) >= 0 })
	to := sort.Search(len(k.over), func(i int) bool { return k.over[i].Min.Compare(hi) >= 0 })
	k.over = slices.Replace(k.over, from, to, with...)
}

// cut divides the chunk that holds the key; false when a chunk begins there already.
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

// put gives a range that chunks fill to a shard.
func (k *futureChunks) put(lo, hi shardkey.Key, shard string) {
	parts := slices.Clone(k.within(lo, hi))
	for i := range parts {
		k.donated[parts[i].Shard] = true
		parts[i].Shard = shard
	}
	k.replace(parts...)
}

// wants are the fields of a chunk that a command on it relies on. The version is
// left out where an earlier step of the plan changes it: a move gives one other
// chunk of its donor a new version.
func (k *futureChunks) wants(p futureChunk) map[string]string {
	want := map[string]string{"exists": "true", "shard": p.Shard}
	if !p.made && !k.donated[p.Shard] {
		want["lastmod"] = p.Version.String()
	}
	return want
}

// chunks is the map as the steps leave it; nil when that is no complete map,
// which a cut at an unknown point makes it.
func (k *futureChunks) chunks() *topology.ChunkMap {
	if len(k.over) == 0 {
		return k.c.Chunks
	}
	rows := make([]topology.Chunk, len(k.over))
	next := k.c.Chunks.Highest().Major + 1
	for i, p := range k.over {
		rows[i] = topology.Chunk{Min: p.Min, Max: p.Max, Shard: p.Shard, Jumbo: p.Jumbo, Version: topology.Version{Major: next, Minor: uint32(i)}}
	}
	m, _, err := k.c.Chunks.Apply(rows)
	if err != nil {
		return nil
	}
	return m
}

// counts are the shards whose number of chunks the steps change, or that have
// any: before and after.
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

func byName(a, b *topology.Collection) int { return cmp.Compare(a.NS, b.NS) }
