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
	"shardboard/internal/fixture/only"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// recordDays records a collection of 100,000 chunks with 2,000 moves a day.
func recordDays(tb testing.TB, dir string, days int) (*sqlite.DB, time.Time) {
	tb.Helper()
	db := must.Get(sqlite.Open(context.Background(), dir))
	tb.Cleanup(func() { _ = db.Close() })
	rng := rand.New(rand.NewPCG(1, 2))
	chunks := evenChunks(100_000)
	meta := topology.Meta{NS: "db.things", Key: routing.Pattern("k#"), Incarnation: topology.Incarnation{UUID: [16]byte{1}}}
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
			c.Shard, c.Version = shardName(rng.IntN(3)), topology.Version{Major: uint32(i*together + n + 2)}
			c.Since = bson.Timestamp{T: uint32(clock.Unix()), I: 1}
			rows = append(rows, c)
			details := must.Get(bson.Marshal(bson.D{{Key: "min", Value: bson.D{{Key: "k", Value: int64(i)}}}, {Key: "from", Value: "a-shard"},
				{Key: "to", Value: "b-shard"}}))
			events = append(events, topology.Event{ID: bson.NewObjectID().Hex(), Time: clock, What: "moveChunk.commit", NS: "db.things",
				Shard: "a-shard", Details: details})
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

func TestHistoryOfFiveWeeksStaysSmall(t *testing.T) {
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("records five weeks, which takes long")
	}
	dir := t.TempDir()
	recordDays(t, dir, 35)
	var total int64
	for _, name := range []string{"shardboard.db", "shardboard.db-wal"} {
		info := must.Get(os.Stat(filepath.Join(dir, name)))
		total += info.Size()
	}
	if t.Logf("%d MB", total>>20); total > 200<<20 {
		t.Errorf("%d MB, at most 200 are expected", total>>20)
	}
}

func TestAPastThatIsPlayedBackIsTheSameAsOneReadAtOnce(t *testing.T) {
	only.Long(t, "records a day of 100,000 chunks")
	db, end := recordDays(t, t.TempDir(), 1)
	played := NewPast(db, nil)
	r := rand.New(rand.NewPCG(5, 6))
	at := end.Add(-20 * time.Hour)
	for step := range 12 {
		if step%4 == 3 {
			at = end.Add(-time.Duration(r.IntN(20)) * time.Hour) // somebody moves the slider
		}
		got, err := played.Table(t.Context(), "c1", at)
		must.Do(t, err)
		want, err := NewPast(db, nil).Table(t.Context(), "c1", at)
		must.Do(t, err)
		if a, b := got.Collections[0], want.Collections[0]; !a.Chunks.Equal(b.Chunks) || a.Highest != b.Highest {
			t.Fatalf("at %s: played back and read at once differ", at)
		}
		at = at.Add(37 * time.Minute)
	}
}
