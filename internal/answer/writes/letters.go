package writes

import (
	"compress/gzip"
	"io"

	"shardboard/internal/api"
	"shardboard/internal/heat/keyvis"
)

const (
	// mapBytes is how large the letters may be when they are compressed.
	mapBytes = 265 << 10
	// surelySmall is how many cells need no look at their size.
	surelySmall = 200_000
)

// ratesAsLetters writes rates as letters. Where the finest scale would be too large, first
// cells with few writes get fewer letters, because their differences are chance; then all do.
func ratesAsLetters(p keyvis.View, rows []int) (scale api.HeatScale, cells []string) {
	for _, fine := range []struct {
		octaves float64
		few     bool // fewer letters for few writes
	}{{0.5, false}, {0.5, true}, {1, true}, {2, true}} {
		scale = api.NewHeatScale(fine.octaves)
		cells = make([]string, 0, len(rows))
		line := make([]byte, len(p.Columns))
		for _, row := range rows {
			for i := range line {
				line[i] = api.HeatUnknown
				if rate, ok := p.PerSecond(row, i); ok {
					line[i] = scale.Letter(rate)
					if fine.few {
						line[i] = scale.Coarse(line[i], p.At(row, i))
					}
				}
			}
			cells = append(cells, string(line))
		}
		if len(rows)*len(line) < surelySmall || compressedBytes(cells) <= mapBytes {
			break
		}
	}
	return scale, cells
}

// compressedBytes is how large lines are after gzip.
func compressedBytes(cells []string) int {
	n := counter(0)
	z := gzip.NewWriter(&n)
	for _, line := range cells {
		_, _ = io.WriteString(z, line) // a counter does not fail
	}
	_ = z.Close()
	return int(n)
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
