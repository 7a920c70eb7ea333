package writes

import (
	"math"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/topology"
)

// HeatThumbnail is a small picture for readers without script. A cell is the hottest of those that it stands for, so
// that a hot chunk does not disappear.
type HeatThumbnail struct {
	From, To time.Time
	Width    int // cells across; each stands for the same time
	Rows     []HeatThumbnailRow
}

// HeatThumbnailRow is one or several neighbouring rows of the picture.
type HeatThumbnailRow struct {
	Name   string // of its first row: the project, the chunk or the key
	Shard  string // owner of its first row; "" by project
	Levels []int  // by cell: 0 for no writes, 1 to HeatLevels, -1 for unknown or not counted
}

// HeatLevels is how many steps of brightness a thumbnail has.
const HeatLevels = 7

const (
	thumbnailRows    = 32
	thumbnailColumns = 60
)

// thumbnail makes a picture small.
func thumbnail(v answer.View, c *topology.Collection, p keyvis.View) (out HeatThumbnail) {
	from, to, ok := recordedTime(p)
	if !ok || p.Rows() == 0 {
		return out
	}
	out.From, out.To = from, to
	out.Width = thumbnailColumns
	if step := p.Columns[0].Step; to.Sub(from) < thumbnailColumns*step {
		out.Width = max(int(to.Sub(from)/step), 1)
	}
	cell := to.Sub(from) / time.Duration(out.Width)
	fold := (p.Rows() + thumbnailRows - 1) / thumbnailRows
	rates := make([][]float64, (p.Rows()+fold-1)/fold)
	most := 0.0
	for r := range rates {
		rates[r] = make([]float64, out.Width)
		for x := range rates[r] {
			rates[r][x] = -1
		}
		for i := r * fold; i < min((r+1)*fold, p.Rows()); i++ {
			for at, col := range p.Columns {
				rate, known := p.PerSecond(i, at)
				if !known {
					continue
				}
				most = max(most, rate)
				first := int(col.From.Sub(from) / cell)
				last := int((col.End().Sub(from) - 1) / cell)
				for x := first; x <= min(last, out.Width-1); x++ {
					rates[r][x] = max(rates[r][x], rate)
				}
			}
		}
		row := heatRow(v, c, p, r*fold)
		out.Rows = append(out.Rows, HeatThumbnailRow{Name: row.Label, Shard: row.Shard})
	}
	for r := range rates {
		for _, rate := range rates[r] {
			out.Rows[r].Levels = append(out.Rows[r].Levels, heatLevel(rate, most))
		}
	}
	return out
}

// heatLevel is the step of a rate on a scale that halves from the greatest downwards.
func heatLevel(rate, most float64) int {
	switch {
	case rate < 0:
		return -1
	case rate == 0 || most <= 0:
		return 0
	}
	return max(1, HeatLevels+int(math.Round(math.Log2(rate/most))))
}
