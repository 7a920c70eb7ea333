package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/topology"
)

// BenchmarkNearest measures the cost for every located document and every row of
// projects in a cluster with 2,000 collections of other databases.
func BenchmarkNearest(b *testing.B) {
	p := Yorkie()
	tab := shardingOf(p.Layouts[0]).table(b, "8.0.12")
	for i := range 2000 {
		tab.Collections = append(
			tab.Collections,
			&topology.Collection{Meta: topology.Meta{NS: topology.Namespace(fmt.Sprintf("other%d.c", i)), Key: patternOf(b, keyHashed)}},
		)
	}
	slices.SortFunc(tab.Collections, func(a, b *topology.Collection) int { return strings.Compare(string(a.NS), string(b.NS)) })
	b.ReportAllocs()
	for b.Loop() {
		p.Nearest(tab, "y")
	}
}
