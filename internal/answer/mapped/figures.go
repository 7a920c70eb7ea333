package mapped

import (
	"slices"
	"sort"
	"sync"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/chunksize"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// bandFigures are sizes and writes of a band's chunks in a form that sums up a stretch
// without reading each of its chunks.
type bandFigures struct {
	share    []int64 // estimated bytes of a chunk by ShardIndex; -1 = not known
	measured []measuredChunk
	hot      []hotChunk
	counted  bool // writes are counted
	atLeast  bool // some are not: a chunk without a rate is not known to have none
	moving   []int
	zones    []answer.ZoneOverlap

	outsideOnce  sync.Once
	outsideCount int
}

// measuredChunk corrects the estimate of its chunk.
type measuredChunk struct {
	at    int
	bytes int64
	delta int64 // what it adds to the estimate of its shard
	known int   // 1 if there is no estimate to add to
}

type hotChunk struct {
	at   int
	rate float64
}

// keyedHeat are the rates of one window by lower bound. They stay while chunks move; one that
// is split keeps its rate in its first part until the next window, as everywhere.
type keyedHeat struct {
	once    sync.Once
	mins    []string // encoded
	rates   []float64
	counted bool
	atLeast bool
}

func (k *keyedHeat) fill(v MapView, c *topology.Collection) {
	k.once.Do(func() {
		if v.Writes == nil {
			return
		}
		var rates map[int]heat.Rate
		rates, k.counted, k.atLeast = v.Writes(v.Table, c.NS)
		for i, r := range rates {
			if i >= 0 && i < c.Chunks.Len() && r.PerSecond > 0 {
				k.mins, k.rates = append(k.mins, c.Chunks.At(i).Min.Encoded()), append(k.rates, r.PerSecond)
			}
		}
	})
}

// of are the figures of a band, made once.
func (b *mapBand) of(v MapView, c *topology.Collection) *bandFigures {
	b.once.Do(func() {
		f := &bandFigures{}
		counts := c.Chunks.CountByShard()
		for _, shard := range c.Chunks.ShardNames() {
			s := chunksize.ShareOf(v.Table, c, shard, counts[shard]).Bytes
			if !s.Known {
				s.Value = -1
			}
			f.share = append(f.share, s.Value)
		}
		if v.Sizes != nil {
			f.measure(c, v.Sizes.Known(c))
		}
		b.heat.fill(v, c)
		f.counted, f.atLeast = b.heat.counted, b.heat.atLeast
		for n, min := range b.heat.mins {
			at, _ := c.Chunks.FindEncoded(min)
			f.hot = append(f.hot, hotChunk{at: at, rate: b.heat.rates[n]})
		}
		f.hot = addUp(f.hot)
		for at := range logbook.MovingChunks(v.View, c) {
			f.moving = append(f.moving, at)
		}
		slices.Sort(f.moving)
		f.zones = answer.ZoneOverlaps(v.Table, c)
		b.figures = f
	})
	return b.figures
}

func (f *bandFigures) measure(c *topology.Collection, known map[int]chunksize.Size) {
	names := c.Chunks.ShardNames()
	for at, s := range known {
		if !s.Bytes.Known {
			continue
		}
		m := measuredChunk{at: at, bytes: s.Bytes.Value, delta: s.Bytes.Value, known: 1}
		if share := f.share[slices.Index(names, c.Chunks.Owner(at))]; share >= 0 {
			m.delta, m.known = s.Bytes.Value-share, 0
		}
		f.measured = append(f.measured, m)
	}
	slices.SortFunc(f.measured, func(a, b measuredChunk) int { return a.at - b.at })
}

// addUp sorts rates by position and adds those of one chunk, which merged chunks have.
func addUp(hot []hotChunk) []hotChunk {
	slices.SortFunc(hot, func(a, b hotChunk) int { return a.at - b.at })
	out := hot[:0]
	for _, h := range hot {
		if n := len(out); n > 0 && out[n-1].at == h.at {
			out[n-1].rate += h.rate
			continue
		}
		out = append(out, h)
	}
	return out
}

// bytes is the mean size of the chunks [from, to), which t sums up; nil if it is not known
// of any.
func (f *bandFigures) bytes(t *topology.Tally, from, to int) *int64 {
	var sum int64
	known := 0
	for shard, n := range t.ByShard {
		if n > 0 && f.share[shard] >= 0 {
			sum += int64(n) * f.share[shard]
			known += n
		}
	}
	for i := f.firstMeasured(from); i < len(f.measured) && f.measured[i].at < to; i++ {
		sum += f.measured[i].delta
		known += f.measured[i].known
	}
	if known == 0 {
		return nil
	}
	mean := sum / int64(known)
	return &mean
}

func (f *bandFigures) firstMeasured(at int) int {
	return sort.Search(len(f.measured), func(i int) bool { return f.measured[i].at >= at })
}

// writes are the mean rate and that of the hottest of the chunks [from, to); nil if not known.
func (f *bandFigures) writes(from, to int) (mean, peak *float64) {
	if !f.counted {
		return nil, nil
	}
	var sum, most float64
	first := sort.Search(len(f.hot), func(i int) bool { return f.hot[i].at >= from })
	i := first
	for ; i < len(f.hot) && f.hot[i].at < to; i++ {
		sum += f.hot[i].rate
		most = max(most, f.hot[i].rate)
	}
	if i == first && f.atLeast {
		return nil, nil // not counted is not none
	}
	sum, most = significant(sum/float64(to-from)), significant(most)
	return &sum, &most
}

// flags are those of a mark with the chunks [from, to), which sum sums up.
func (f *bandFigures) flags(c *topology.Collection, sum *topology.Tally, from, to int) (out int) {
	if sum.Jumbo > 0 {
		out |= api.MapJumbo
	}
	if f.outside(c, sum, from, to) {
		out |= api.MapOutside
	}
	if f.moves(from, to) {
		out |= api.MapMoving
	}
	return out
}

// moves tells whether a chunk of [from, to) moves.
func (f *bandFigures) moves(from, to int) bool {
	i, _ := slices.BinarySearch(f.moving, from)
	return i < len(f.moving) && f.moving[i] < to
}
