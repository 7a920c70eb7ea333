package topology

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// Rows that cannot both be true are found in whatever order they come, confirmed by a read of all parts that began
// later, and forgotten when they are mended.
func TestContradictionsAreFoundConfirmedAndForgotten(t *testing.T) {
	f := newFake(t)
	f.add("db.sound", 1, 10, 20)
	lost := f.add("db.lost", 2, 10)
	f.add("other.c", 3, 10)
	tracked := f.add("db.tracked", 4)
	tracked.meta.Unsplittable = true
	bound := func(field string, n int64) bson.Raw {
		doc := must.Get(bson.Marshal(bson.D{{Key: field, Value: n}}))
		return doc
	}
	withWatcher(t, f, Options{}, func(w *Watcher) {
		wait(time.Second)
		f.change(func() {
			lost.move(1, "gone")
			f.databases = append(f.databases, Database{Name: "orphaned", Primary: "gone"})
			split := tracked.rows[0]
			tracked.rows = []Chunk{split, split}
			key := at(t, tracked.meta.Key, 5)
			tracked.rows[0].Max, tracked.rows[1].Min = key, key
			tracked.rows[1].Version = Version{2, 0}
			field := f.colls["db.sound"].meta.Key.Fields()[0].Name
			f.zones = []ZoneRange{
				{NS: "db.sound", Zone: "x", RawMin: bound(field, 0), RawMax: bound(field, 10)},
				{NS: "db.sound", Zone: "y", RawMin: bound(field, 5), RawMax: bound(field, 20)},
				{NS: "db.sound", Zone: "z", RawMin: bound("wrong", 5), RawMax: bound("wrong", 20)},
			}
		})
		wait(time.Minute)
		var got []Contradiction
		for _, c := range w.Table().Contradictions {
			if c.Since.IsZero() || !c.Confirmed {
				t.Errorf("%+v is not confirmed after a minute", c)
			}
			c.Since, c.Confirmed = time.Time{}, false
			got = append(got, c)
		}
		want := []Contradiction{
			{Kind: ChunkOwnerUnknown, NS: "db.lost", Shard: "gone", Chunks: 1},
			{Kind: DatabaseUnknown, NS: "other.c", Database: "other"},
			{Kind: PrimaryUnknown, Database: "orphaned", Shard: "gone"},
			{Kind: ManyChunks, NS: "db.tracked", Chunks: 2},
			{Kind: ZoneBound, NS: "db.sound", Zone: "z"},
			{Kind: ZonesOverlap, NS: "db.sound", Zone: "x", Other: "y"},
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		f.change(func() {
			f.shards = append(f.shards, Shard{Name: "gone"})
			f.databases = append(f.databases, Database{Name: "other", Primary: "b"})
			f.zones = nil
			tracked.meta.Unsplittable = false
		})
		wait(time.Minute)
		if left := w.Table().Contradictions; len(left) > 0 {
			t.Errorf("mended, and still %+v", left)
		}
	})
}

// A shard that is added, gets a chunk and is listed only by the next read of the shards is no contradiction: it is
// never confirmed.
func TestANewShardIsNoContradiction(t *testing.T) {
	f := newFake(t)
	c := f.add("db.c", 1, 10, 20)
	withWatcher(t, f, Options{}, func(w *Watcher) {
		for i := range 20 {
			wait(time.Duration(i) * 700 * time.Millisecond)
			f.change(func() {
				name := string(rune('k' + i))
				f.shards = append(f.shards, Shard{Name: name})
				c.move(i%3, name)
			})
			for range 100 {
				wait(100 * time.Millisecond)
				if slices.ContainsFunc(w.Table().Contradictions, func(c Contradiction) bool { return c.Confirmed }) {
					t.Fatalf("%+v", w.Table().Contradictions)
				}
			}
		}
	})
}

// A command that answers once and ends reads again before it takes two reads for a contradiction.
func TestLoadConfirmsContradictions(t *testing.T) {
	f := newFake(t)
	f.add("other.c", 1, 10)
	table, err := NewWatcher(f, Options{}).Load(t.Context())
	if err != nil || len(table.Contradictions) != 1 || !table.Contradictions[0].Confirmed {
		t.Errorf("%v: %+v", err, table.Contradictions)
	}
}
