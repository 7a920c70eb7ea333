package trying

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/lab/picture"
	"shardboard/internal/sanitize"
)

// LabKeysChart draws the part of the data that each shard has with each key, as SVG.
func LabKeysChart(a api.LabKeys) string {
	b := picture.Bars{Title: "Data by shard with each key", X: "key", Y: "data, per mille", Names: true}
	for _, k := range a.Items {
		column := make([]int, len(k.Parts))
		for i, p := range k.Parts {
			column[i] = int(math.Round(p.Share * 1000))
		}
		b.Series = seriesNames(b.Series, "shard", len(column))
		b.Column, b.Value = append(b.Column, k.Key), append(b.Value, column)
	}
	return b.SVG()
}

// LabIDsChart draws how many new rows land on each shard over the time with one kind of id, as SVG. The kind "" is the
// first.
func LabIDsChart(a api.LabIDs, kind string) (string, error) {
	i := slices.IndexFunc(a.Items, func(id api.LabID) bool { return kind == "" || id.Kind == kind })
	if i < 0 {
		var kinds []string
		for _, id := range a.Items {
			kinds = append(kinds, id.Kind)
		}
		return "", fault.New(fault.Invalid, "kind must be one of %s, not %q.", strings.Join(kinds, ", "), sanitize.Truncate(kind, 60))
	}
	id := a.Items[i]
	b := picture.Bars{Title: "New rows by shard over the time: " + id.Kind, X: "part of the time", Y: "rows", Value: id.Slices}
	b.Series = seriesNames(b.Series, "shard", len(id.Parts))
	for n := range id.Slices {
		b.Column = append(b.Column, fmt.Sprintf("part %d", n+1))
	}
	return b.SVG(), nil
}

// LabGrowthChart draws what each shard has before, after the moves and after the growth, as SVG.
func LabGrowthChart(a api.LabGrowth) string {
	b := picture.Bars{Title: "Data of each shard before, after the moves and grown", X: "shard", Y: "MiB",
		Series: []string{"before", "after", "grown"}, Beside: true, Names: true}
	for _, s := range a.Shards {
		var column []int
		for _, f := range []api.Figure{s.Before, s.After, s.Grown} {
			n := int64(0)
			if f.Value != nil {
				n = *f.Value
			}
			column = append(column, int(math.Ceil(float64(n)/(1<<20))))
		}
		b.Column, b.Value = append(b.Column, s.Shard), append(b.Value, column)
	}
	return b.SVG()
}

// seriesNames are so many names of a kind of thing.
func seriesNames(names []string, kind string, n int) []string {
	for len(names) < n {
		names = append(names, fmt.Sprintf("%s %d", kind, len(names)+1))
	}
	return names
}
