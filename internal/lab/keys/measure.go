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
	r.InsertParts = insertParts(s, c, sorted)
	if len(r.InsertParts) > 0 {
		r.Inserts = slices.Max(r.InsertParts)
	}
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

// mostRowsPerSplit is how many rows the server puts into half a chunk at most (splitVector, 5.0).
const mostRowsPerSplit = 250_000

// split cuts rows into chunks as the server does when it splits a range (splitVector): it counts rows up to half of
// the chunk size, by their average size in whole bytes, and cuts before the value that the next row has, unless it has
// cut there already. A collection smaller than the chunk size stays whole. It calls cut with the place in the order of
// the key at which each chunk but the first begins.
func (r *sorter) split(s *Sample, chunkSize int64, cut func(at int)) {
	if s.Len() == 0 || s.Bytes() < chunkSize {
		return
	}
	average := max(s.bytes/int64(s.Len()), 1)
	// One row of a sample stands for several.
	each := float64(min(chunkSize/(2*average), mostRowsPerSplit)) / s.scale()
	count, start := 0.0, -1 // start is where the value of this row begins
	var value, last []byte  // last is the value at which it was cut last, at first the least
	for at, p := range r.order {
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
	sorted.split(s, c.ChunkSize, func(at int) { starts = append(starts, at) })
	sizes, fixed := make([]int64, len(starts)), make([]bool, len(starts))
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
		least := sizes[n]
		if !s.Whole() { // a few rows of a sample do not tell how many rows a value has
			low, _ := wilson(end-start, s.Len(), confidence)
			least = int64(low * float64(s.Bytes()))
		}
		if least > c.ChunkSize && string(first) == string(last) {
			r.Stuck++
			fixed[n] = sizes[n] > movable*c.ChunkSize
		}
	}
	r.Chunks = len(sizes)
	if c.Today.Len() == 0 {
		r.Parts = balanced(sizes, fixed, c.Shards)
	} else {
		r.Parts = resharded(s, c, sorted)
	}
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

// insertParts is the part of the newest tenth of rows that each shard takes. Each row goes to the piece of its key
// among the pieces of the rows before; nothing is split or moved meanwhile.
func insertParts(s *Sample, c *Cluster, sorted *sorter) []float64 {
	limit := s.Len() - s.Len()/10
	if limit == s.Len() || limit == 0 {
		return nil
	}
	rows := make([]int, c.Shards)
	pieces := sorted.pieces(limit)
	piece := 0
	for at, p := range sorted.order {
		for piece+1 < len(pieces) && at >= pieces[piece+1] {
			piece++
		}
		if int(p.row) >= limit {
			rows[piece%c.Shards]++
		}
	}
	out := make([]float64, c.Shards)
	for i, n := range rows {
		out[i] = float64(n) / float64(s.Len()-limit)
	}
	return out
}
