package web_test

import (
	"fmt"
	"slices"
	"testing"

	"shardboard/internal/answer"
	"shardboard/web/webtest"
)

// BenchmarkHiddenTable is what a new table costs for a class of people, with 2,000
// log entries that have a server's text each: the same as before, or new ones.
func BenchmarkHiddenTable(b *testing.B) {
	for _, fresh := range []bool{false, true} {
		b.Run(fmt.Sprintf("new entries %v", fresh), func(b *testing.B) {
			t := *webtest.CannedTable(1, 250)
			for len(t.Events) < 2000 {
				t.Events = failedWith(t.Events, serverSaid)
			}
			tables := answer.NewHiddenTables()
			for b.Loop() {
				next := t
				if fresh {
					next.Events = slices.Clone(t.Events)
				}
				tables.Of(&next, answer.Hidden{Texts: true, Bounds: true}, true)
			}
		})
	}
}
