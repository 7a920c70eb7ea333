package heat

import (
	"fmt"
	"strings"

	"shardboard/internal/answer/writes"
	"shardboard/internal/format"
)

// levelPaths are the cells of each level as one path, so that a picture of two thousand cells has eight elements. The
// first column of the drawing is for the owners, the second is empty.
func levelPaths(p writes.HeatThumbnail) []string {
	paths := make([]strings.Builder, writes.HeatLevels+1)
	for y, row := range p.Rows {
		for x := 0; x < len(row.Levels); {
			end := x + 1
			for end < len(row.Levels) && row.Levels[end] == row.Levels[x] {
				end++
			}
			if level := row.Levels[x]; level >= 0 {
				fmt.Fprintf(&paths[level], "M%d %dh%dv1h-%dz", x+2, y, end-x, end-x)
			}
			x = end
		}
	}
	out := make([]string, len(paths))
	for i := range paths {
		out[i] = paths[i].String()
	}
	return out
}

// smallLabel names the hottest row, for those who cannot see the picture.
func smallLabel(p writes.HeatThumbnail) string {
	best, most := "", 0
	for _, row := range p.Rows {
		sum := 0
		for _, l := range row.Levels {
			sum += max(l, 0)
		}
		if sum > most {
			best, most = row.Name, sum
		}
	}
	text := fmt.Sprintf("Heat map of writes from %s to %s", format.Stamp(p.From), format.Stamp(p.To))
	if best != "" {
		text += "; most were written to " + best
	}
	return text + "."
}
