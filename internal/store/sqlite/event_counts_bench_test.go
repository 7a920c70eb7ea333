package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"shardboard/internal/store"
)

// BenchmarkEventCounts counts what the picture of the changelog shows: a week in parts of three hours. The week has
// ten thousand entries or a million, of four kinds in ten collections.
func BenchmarkEventCounts(b *testing.B) {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const week = 7 * 24 * time.Hour
	took := map[int]float64{}
	for _, n := range []int{10_000, 1_000_000} {
		db, err := Open(b.Context(), filepath.Join(b.TempDir(), "data"))
		must(b, err)
		defer db.Close()
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			fillEvents(b, db, n, from, week)
			b.ResetTimer()
			sum := 0
			for b.Loop() {
				counts, err := db.EventCounts(b.Context(), "c", from, from.Add(week), 3*time.Hour)
				must(b, err)
				sum = 0
				for _, c := range counts {
					sum += c.N
				}
			}
			if sum != n {
				b.Fatalf("%d of %d entries are counted", sum, n)
			}
			took[n] = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			if small := took[10_000]; n > 10_000 && small > 0 {
				b.ReportMetric(took[n]/small, "times-10k")
			}
		})
	}
}

// fillEvents stores n entries that are spread evenly over a time, where the store is still empty.
func fillEvents(b *testing.B, db *DB, n int, from time.Time, long time.Duration) {
	b.Helper()
	kinds := []string{"moveChunk.commit", "moveChunk.error", "split", "merge"}
	for at := 0; at < n; {
		var batch []store.HistoryEvent
		for ; at < n && len(batch) < 20_000; at++ {
			batch = append(batch, store.HistoryEvent{ID: fmt.Sprint("e", at), At: from.Add(long / time.Duration(n) * time.Duration(at)),
				What: kinds[at%4], NS: fmt.Sprint("app.c", at%10), Shard: "s1", Failed: at%4 == 1})
		}
		must(b, db.AppendHistory(b.Context(), "c", nil, batch))
	}
}
