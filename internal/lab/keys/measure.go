package keys

import (
	"math"
	"slices"
)

func (r *Report) measure(s *Sample, c *Cluster, sorted *sorter) {
	if s.Len() == 0 {
		return
	}
	var distinct, once, twice, common int
	var heaviest int64
	missing := missingKey(r.Key)
	sorted.values(s, func(v value) {
		distinct++
		switch v.rows {
		case 1:
			once++
		case 2:
			twice++
		}
		common = max(common, v.rows)
		heaviest = max(heaviest, v.bytes)
		if string(sorted.key(sorted.order[v.first].row)) == missing {
			r.Missing = float64(v.rows) / float64(s.Len())
		}
	})
	r.Values = distinctValues(s, distinct, once, twice)
	r.Common = mostCommon(s, common, distinct)
	r.Heaviest = int64(float64(heaviest) * s.scale())
	r.Order = correlation(sorted.order)
	r.chunks(s, c, sorted)
	r.Inserts = insertShare(s, c, sorted)
}

// distinctValues is the number of different values: counted when all rows were looked at. Of a sample it is
// Chao's estimate from below, from how many values were seen once and twice; the interval reaches from what was seen to
// as many as there would be if every row that was not looked at were another value.
func distinctValues(s *Sample, seen, once, twice int) Estimate {
	if s.Whole() {
		return Exact(float64(seen))
	}
	unseen := float64(once*(once-1)) / float64(2*(twice+1))
	// As large a part of what was not looked at is new as was seen once.
	_, high := wilson(once, s.Len(), confidence)
	most := math.Ceil(float64(seen) + float64(s.Rows()-int64(s.Len()))*high)
	return Estimate{min(math.Round(float64(seen)+unseen), most), float64(seen), most}
}

// mostCommon is the share of the most common value, from how many rows of the sample have it. It was chosen among
// many values for being frequent in the sample, so its own share may be smaller: the lower end holds for all values
// at once.
func mostCommon(s *Sample, rows, values int) Estimate {
	share := float64(rows) / float64(s.Len())
	if s.Whole() {
		return Exact(share)
	}
	low, _ := wilson(rows, s.Len(), math.Sqrt2*math.Erfinv(1-0.05/float64(values)))
	_, high := wilson(rows, s.Len(), confidence)
	return Estimate{share, max(low, float64(rows)/float64(s.Rows())), high}
}

const confidence = 1.959964 // standard deviations of 95 %

// wilson is Wilson's interval of a share, from hits among n, for some standard deviations.
func wilson(hits, n int, z float64) (low, high float64) {
	p, m := float64(hits)/float64(n), float64(n)
	d := 1 + z*z/m
	middle, half := (p+z*z/(2*m))/d, z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))/d
	return max(middle-half, 0), min(middle+half, 1)
}

// correlation is Pearson's of the rank by key and the order of insertion: Spearman's rank correlation, with equal
// keys in the order of insertion.
func correlation(order []place) float64 {
	n := float64(len(order))
	if n < 2 {
		return 0
	}
	var squares float64
	for rank, p := range order {
		d := float64(rank) - float64(p.row)
		squares += d * d
	}
	return 1 - 6*squares/(n*(n*n-1))
}

// split cuts rows into chunks as the server does when it splits a range: it counts rows up to half of the chunk size,
// by their average size, and cuts before the value that the next row has, unless it has cut there already. It calls
// cut with the place in the order of the key at which each chunk but the first begins. Rows from limit on, in the
// order of insertion, are not there yet.
func (r *sorter) split(s *Sample, chunkSize int64, limit int, cut func(at int)) {
	var size int64
	for i := range limit {
		size += int64(s.sizes[i])
	}
	if size == 0 {
		return
	}
	// One row of a sample stands for several.
	each := float64(chunkSize) / 2 / (float64(size) / float64(limit)) / s.scale()
	count, start := 0.0, -1 // start is where the value of this row begins
	var value, last []byte  // last is the value at which it was cut last, at first the least
	for at, p := range r.order {
		if int(p.row) >= limit {
			continue
		}
		if key := r.key(p.row); start < 0 || string(key) != string(value) {
			value, start = key, at
			if last == nil {
				last = key
			}
		}
		if count++; count > each && string(value) != string(last) {
			cut(start)
			last, count = value, 0
		}
	}
}

func (r *Report) chunks(s *Sample, c *Cluster, sorted *sorter) {
	starts := []int{0}
	sorted.split(s, c.ChunkSize, s.Len(), func(at int) { starts = append(starts, at) })
	sizes := make([]int64, len(starts))
	for n, start := range starts {
		end := len(sorted.order)
		if n+1 < len(starts) {
			end = starts[n+1]
		}
		var size int64
		for _, p := range sorted.order[start:end] {
			size += int64(s.sizes[p.row])
		}
		sizes[n] = int64(float64(size) * s.scale())
		first, last := sorted.key(sorted.order[start].row), sorted.key(sorted.order[end-1].row)
		if sizes[n] > c.ChunkSize && string(first) == string(last) {
			r.Stuck++
		}
	}
	r.Chunks = len(sizes)
	r.Parts = spread(sizes, c.Shards)
	var all int64
	for _, b := range r.Parts {
		all += b
		if b > 0 {
			r.Used++
		}
	}
	if all > 0 {
		r.Fullest = float64(slices.Max(r.Parts)) / float64(all)
	}
	slices.Sort(sizes)
	r.Smallest, r.Median, r.Largest = sizes[0], sizes[len(sizes)/2], sizes[len(sizes)-1]
}

// spread gives chunks to shards in the order of their keys so that each has about the same bytes.
func spread(sizes []int64, shards int) []int64 {
	out := make([]int64, shards)
	for n, shard := range owners(sizes, shards) {
		out[shard] += sizes[n]
	}
	return out
}

// owners are the shards of chunks in the order of their keys: each shard has neighbours, and about the same bytes.
func owners(sizes []int64, shards int) []int {
	var all, before int64
	for _, b := range sizes {
		all += b
	}
	out := make([]int, len(sizes))
	for n, b := range sizes {
		if all > 0 {
			// The shard in whose part the middle of the chunk lies.
			out[n] = min(int(float64(before+b/2)/float64(all)*float64(shards)), shards-1)
		}
		before += b
	}
	return out
}

// insertShare is the part of the newest tenth of rows that the busiest shard takes. Each row goes to the chunk of its
// key among the chunks of the rows before; nothing is split or moved meanwhile.
func insertShare(s *Sample, c *Cluster, sorted *sorter) float64 {
	limit := s.Len() - s.Len()/10
	if limit == s.Len() || limit == 0 {
		return 0
	}
	starts := map[int]bool{}
	sorted.split(s, c.ChunkSize, limit, func(at int) { starts[at] = true })
	var sizes []int64
	var inserts []int
	size, n := int64(0), 0
	for at, p := range sorted.order {
		if starts[at] {
			sizes, inserts = append(sizes, size), append(inserts, n)
			size, n = 0, 0
		}
		if int(p.row) < limit {
			size += int64(s.sizes[p.row])
		} else {
			n++
		}
	}
	sizes, inserts = append(sizes, size), append(inserts, n)
	byShard, all := make([]int, c.Shards), 0
	for chunk, shard := range owners(sizes, c.Shards) {
		byShard[shard] += inserts[chunk]
		all += inserts[chunk]
	}
	return float64(slices.Max(byShard)) / float64(all)
}
