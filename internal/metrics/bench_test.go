package metrics

import (
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// BenchmarkScrape reports how much longer a scrape of a million chunks takes than one of ten thousand. Aim: at most
// 2.
func BenchmarkScrape(b *testing.B) {
	scrapeOf := func(chunks int) func() {
		tab := table("a", "b", "c")
		// Eight collections, as Yorkie has. One holds nearly all chunks, half of them in a zone.
		for i := range 8 {
			n := 10
			if i == 0 {
				n = chunks
			}
			c := collection(topology.Namespace("db.c"+strconv.Itoa(i)), n, "a", "b", "c")
			tab.Collections = append(tab.Collections, c)
			sized(tab, c.NS, 1, 2, 3)
			if i == 0 {
				tab.Shards[0].Zones = []string{"eu"}
				tab.Zones = []topology.ZoneRange{{NS: c.NS, Zone: "eu", Min: c.Chunks.At(1).Min, Max: c.Chunks.At(n / 2).Min}}
			}
		}
		moves := NewMoves(nil)
		moves.read(tab)
		from := sources(tab)
		from.Moves = moves
		reg := prometheus.NewRegistry()
		reg.MustRegister(NewCluster(from))
		gather := func() {
			must.Do(b, must.Err(reg.Gather()))
		}
		gather() // makes the sums that are kept with the chunks
		return gather
	}
	many, few := scrapeOf(1_000_000), scrapeOf(10_000)
	b.ResetTimer()
	for b.Loop() {
		many()
	}
	b.StopTimer()
	began := time.Now()
	for range b.N {
		few()
	}
	b.ReportMetric(b.Elapsed().Seconds()/time.Since(began).Seconds(), "million/10k")
}
