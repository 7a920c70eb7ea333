package topology

import "slices"

// Tally is what a stretch of neighbouring chunks has in all. The zero value may be filled
// again and again.
type Tally struct {
	Chunks  int
	Jumbo   int
	Newest  uint32 // when a chunk of it last came to its shard, in seconds since 1970; 0 = not known of any
	Oldest  uint32 // likewise the longest ago; 0 = not known of any
	ByShard []int  // chunks by ShardIndex
}

// bucketTally is the Tally of a whole bucket. A bucket never changes, so it is made once and
// kept with it: then a sum over a million chunks reads two thousand of them.
type bucketTally struct {
	runs           int
	jumbo          int
	newest, oldest uint32
	counts         []shardCount
}

type shardCount struct {
	shard  uint16
	chunks int32
	jumbo  int32
}

// tally is made by whoever asks first; two who do so at once make the same.
func (b *bucket) tally() *bucketTally {
	if t := b.summed.Load(); t != nil {
		return t
	}
	t := &bucketTally{runs: b.runs(0, b.len())}
	for i, s := range b.shards {
		at := slices.IndexFunc(t.counts, func(c shardCount) bool { return c.shard == s })
		if at < 0 {
			at = len(t.counts)
			t.counts = append(t.counts, shardCount{shard: s})
		}
		t.counts[at].chunks++
		if b.isJumbo(i) {
			t.jumbo++
			t.counts[at].jumbo++
		}
		t.newest, t.oldest = max(t.newest, b.since[i].T), older(t.oldest, b.since[i].T)
	}
	b.summed.Store(t)
	return t
}

// runs is how many stretches of neighbours on one shard [from, to) has.
func (b *bucket) runs(from, to int) (n int) {
	for i := from; i < to; i++ {
		if i == from || b.shards[i] != b.shards[i-1] {
			n++
		}
	}
	return n
}

// Tally sums up the chunks at positions [from, to). It costs the number of buckets between
// them and the chunks of the two at the ends.
func (m *ChunkMap) Tally(into *Tally, from, to int) {
	*into = Tally{ByShard: slices.Grow(into.ByShard[:0], m.shards())[:m.shards()]}
	clear(into.ByShard)
	if from >= to {
		return
	}
	into.Chunks = to - from
	for b, o := m.locate(from); from < to; b, o = b+1, 0 {
		now := m.buckets[b]
		n := min(now.len()-o, to-from)
		if n == now.len() {
			into.whole(now.tally())
		} else {
			into.part(now, o, o+n)
		}
		from += n
	}
}

func (t *Tally) whole(b *bucketTally) {
	t.Jumbo += b.jumbo
	t.Newest, t.Oldest = max(t.Newest, b.newest), older(t.Oldest, b.oldest)
	for _, c := range b.counts {
		t.ByShard[c.shard] += int(c.chunks)
	}
}

func (t *Tally) part(b *bucket, from, to int) {
	for i := from; i < to; i++ {
		t.ByShard[b.shards[i]]++
		t.Newest, t.Oldest = max(t.Newest, b.since[i].T), older(t.Oldest, b.since[i].T)
	}
	if b.jumbo == nil {
		return
	}
	for i := from; i < to; i++ {
		if b.isJumbo(i) {
			t.Jumbo++
		}
	}
}

// older takes 0 for a time that is not known.
func older(a, b uint32) uint32 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// JumboByShard is the number of chunks with the jumbo flag of each shard that has any. It costs the number
// of buckets, and nothing while no chunk is flagged.
func (m *ChunkMap) JumboByShard() map[string]int {
	if m.Jumbo() == 0 {
		return nil
	}
	out := map[string]int{}
	for _, b := range m.buckets {
		if b.jumbo == nil {
			continue
		}
		for _, c := range b.tally().counts {
			if c.jumbo > 0 {
				out[m.names[c.shard]] += int(c.jumbo)
			}
		}
	}
	return out
}

// ShardNames are the shards that own chunks or have owned some, by ShardIndex. The list
// belongs to the map.
func (m *ChunkMap) ShardNames() []string {
	if m == nil {
		return nil
	}
	return m.names
}

// CountRuns is how many stretches of neighbours on one shard the positions [from, to) have.
func (m *ChunkMap) CountRuns(from, to int) (n int) {
	if from >= to {
		return 0
	}
	var last uint16
	first := true
	for b, o := m.locate(from); from < to; b, o = b+1, 0 {
		now := m.buckets[b]
		part := min(now.len()-o, to-from)
		if part == now.len() {
			n += now.tally().runs
		} else {
			n += now.runs(o, o+part)
		}
		if !first && now.shards[o] == last {
			n--
		}
		first, last = false, now.shards[o+part-1]
		from += part
	}
	return n
}

// RunStarts are the positions in [from, to) at which a stretch of neighbours on one shard
// begins. Buckets that are all on one shard are not read chunk by chunk.
func (m *ChunkMap) RunStarts(from, to int) (out []int) {
	if from >= to {
		return nil
	}
	var last uint16
	for b, o := m.locate(from); from < to; b, o = b+1, 0 {
		now := m.buckets[b]
		n := min(now.len()-o, to-from)
		look := n
		if n == now.len() && now.tally().runs == 1 {
			look = 1
		}
		for i := range look {
			if s := now.shards[o+i]; len(out) == 0 || s != last {
				out, last = append(out, from+i), s
			}
		}
		from += n
	}
	return out
}
