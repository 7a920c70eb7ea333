package history

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// recordDays records a collection of 100,000 chunks with 2,000 moves a day.
func recordDays(tb testing.TB, dir string, days int) (*sqlite.DB, time.Time) {
	tb.Helper()
	db := must.Get(sqlite.Open(context.Background(), dir))
	tb.Cleanup(func() { _ = db.Close() })
	rng := rand.New(rand.NewPCG(1, 2))
	chunks := evenChunks(tb, 100_000)
	meta := topology.Meta{NS: "db.things", Key: pattern(tb), Incarnation: topology.Incarnation{UUID: [16]byte{1}}}
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	clock := start
	rec := NewRecorder(db, nil, nil, func() time.Time { return clock })
	table := &topology.Table{ClusterID: "c1", Loaded: true, ServerInfo: topology.ServerInfo{ClusterID: "c1"}, Health: healthAt(start),
		Collections: []*topology.Collection{{Meta: meta, Chunks: chunks}}}
	const perDay, together = 2000, 5
	for i := range days * perDay / together {
		must.Do(tb, rec.Note(context.Background(), table))
		clock = start.Add(time.Duration(i) * 24 * time.Hour * together / perDay)
		var rows []topology.Chunk
		var events []topology.Event
		for n := range together {
			c := chunks.At(rng.IntN(chunks.Len()))
			c.Shard, c.Version, c.Since = shardName(
				rng.IntN(3),
			), topology.Version{
				Major: uint32(i*together + n + 2),
			}, bson.Timestamp{
				T: uint32(clock.Unix()),
				I: 1,
			}
			rows = append(rows, c)
			details := must.Get(bson.Marshal(
				bson.D{{Key: "min", Value: bson.D{{Key: "k", Value: int64(i)}}}, {Key: "from", Value: "a-shard"}, {Key: "to", Value: "b-shard"}},
			))
			events = append(
				events,
				topology.Event{
					ID:      bson.NewObjectID().Hex(),
					Time:    clock,
					What:    "moveChunk.commit",
					NS:      "db.things",
					Shard:   "a-shard",
					Details: details,
				},
			)
		}
		m, _, err := chunks.Apply(rows)
		must.Do(tb, err)
		chunks = m
		next := *table
		next.Collections = []*topology.Collection{{Meta: meta, Chunks: m}}
		next.Events = events
		table = &next
	}
	return db, clock
}

func directorySize(tb testing.TB, dir string) int64 {
	tb.Helper()
	var total int64
	for _, name := range []string{"shardboard.db", "shardboard.db-wal"} {
		info, err := os.Stat(filepath.Join(dir, name))
		must.Do(tb, err)
		total += info.Size()
	}
	return total
}

func TestHistoryOfFiveWeeksStaysSmall(t *testing.T) {
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("records five weeks, which takes long")
	}
	dir := t.TempDir()
	recordDays(t, dir, 35)
	if got := directorySize(t, dir); got > 200<<20 {
		t.Errorf("%d MB", got>>20)
	} else {
		t.Logf("%d MB", got>>20)
	}
}

// BenchmarkPastState restores a random past state of a collection of 100,000 chunks
// with 2,000 changes a day.
func BenchmarkPastState(b *testing.B) {
	db, end := recordDays(b, b.TempDir(), 10)
	past, rng := NewPast(db, nil), rand.New(rand.NewPCG(3, 4))
	b.ResetTimer()
	for b.Loop() {
		if _, err := past.At(context.Background(), "c1", end.Add(-time.Duration(rng.Int64N(int64(9*24*time.Hour))))); err != nil {
			b.Fatal(err)
		}
	}
}
