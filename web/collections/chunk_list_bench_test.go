package collections_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/chunksize"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func BenchmarkChunkList(b *testing.B) {
	const chunks, known = 1_000_000, 20_000
	s, _ := sizedSite(b)
	table := *webtest.CannedTable(1, 6)
	c := webtest.CannedCollection(sizedNS, bson.D{{Key: "project_id", Value: "hashed"}}, chunks, 1)
	table.Collections = []*topology.Collection{c}
	s.Watcher.Publish(&table)
	cluster := &measuredCluster{s: s}
	book := chunksize.New(cluster, s.Watcher, nil)
	sizes := knownSizes{Book: book, known: map[int]chunksize.Size{}}
	for i := range known {
		n := topology.Figure{Known: true, Value: int64(i), Method: chunksize.MethodEstimate, At: webtest.Epoch}
		sizes.known[i*(chunks/known)] = chunksize.Size{Documents: n, Bytes: n, Measured: true, At: webtest.Epoch}
	}
	s.Deps.Measured.Sizes = sizes
	times := map[string][]time.Duration{}
	for b.Loop() {
		for _, query := range []string{"", "?sort=bytes", "?sort=bytes&page=10000"} {
			begun := time.Now()
			if w := s.Do("GET", "/collections/"+sizedNS+query); w.Code != http.StatusOK {
				b.Fatal(w.Code, w.Body)
			}
			times[query] = append(times[query], time.Since(begun))
		}
	}
	median := func(of []time.Duration) float64 {
		slices.Sort(of)
		return float64(of[len(of)/2])
	}
	key := median(times[""])
	b.ReportMetric(key/1e6, "key-ms")
	b.ReportMetric(median(times["?sort=bytes"])/key, "sorted/key")
	b.ReportMetric(median(times["?sort=bytes&page=10000"])/key, "sorted-late/key")
}

// knownSizes has measured many chunks.
type knownSizes struct {
	*chunksize.Book
	known map[int]chunksize.Size
}

func (k knownSizes) Known(*topology.Collection) map[int]chunksize.Size { return k.known }
