package heat

import (
	"slices"

	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Index measures how unevenly something is spread over N places.
type Index struct {
	N int
	// Gini is 0 when all places have the same and near 1 when one has everything: half of the mean
	// difference of two places, divided by the mean.
	Gini float64
	// MaxMean is the largest place divided by the mean.
	MaxMean float64
	// Most is the share of the largest place, 0 to 1.
	Most float64
}

// IndexOf measures amounts over n places; places without an amount have none. It is zero when there
// is nothing to spread.
func IndexOf(amounts []float64, n int) Index {
	n = max(n, len(amounts))
	sorted := slices.Sorted(slices.Values(amounts))
	var all, ranked float64
	for i, a := range sorted {
		all += a
		ranked += a * float64(n-len(sorted)+i+1) // places without an amount come first
	}
	if all <= 0 || n == 0 {
		return Index{N: n}
	}
	most := sorted[len(sorted)-1]
	return Index{
		N:       n,
		Gini:    2*ranked/(float64(n)*all) - float64(n+1)/float64(n),
		MaxMean: most * float64(n) / all,
		Most:    most / all,
	}
}

// Skew is how unevenly a window's writes are spread.
type Skew struct {
	Shards Index // over shards that own chunks
	Chunks Index // over all chunks
}

// Skew measures a window in the current table; zero for changed rows, most of which are not
// counted.
func (w Window) Skew(t *topology.Table, prof *profile.Profile) Skew {
	c := t.Collection(w.NS)
	if c == nil || w.Seconds == 0 || w.Method == ChangedRows {
		return Skew{}
	}
	rates := func(lines []Line) (out []float64) {
		for _, l := range lines {
			out = append(out, l.Rate.PerSecond)
		}
		return out
	}
	shards := rates(w.Shards(t, prof))
	return Skew{Shards: IndexOf(shards, len(shards)), Chunks: IndexOf(rates(w.Chunks(t, prof)), c.Chunks.Len())}
}
