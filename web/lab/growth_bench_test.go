package lab_test

import (
	"fmt"
	"testing"

	"shardboard/internal/answer/trying"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

// BenchmarkLabGrowth is the whole answer, with both ways and the number of shards that are needed.
func BenchmarkLabGrowth(b *testing.B) {
	for _, chunks := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("100 shards, %d chunks", chunks), func(b *testing.B) {
			story := webtest.NewStory()
			story.Shards, story.Chunks = 100, chunks
			v := story.View()
			q := trying.GrowthQuery{Add: 20, Growth: 1.5, Group: 100, PerShard: 1, Fill: 80, Limit: 100, Capacity: 300_000_000}
			for b.Loop() {
				a, err := trying.LabGrowth(v, q)
				must.That(b, err == nil && a.Moves != 0 && a.Needed.Text != "", "%v %v", a.Moves, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(chunks), "ns/chunk")
		})
	}
}
