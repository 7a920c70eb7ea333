package topology

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// fakeMigrations is a fake that also reports migrations. Its fields are changed only by change.
type fakeMigrations struct {
	*fake
	list    []Migration
	partial bool // the list is not complete
	ops     []MoveOperation
	counts  map[string]int64
}

func (f *fakeMigrations) Migrations(ctx context.Context) ([]Migration, bool, error) {
	err := f.startCall(ctx, "Migrations")
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list), !f.partial, err
}

func (f *fakeMigrations) MoveOperations(ctx context.Context) ([]MoveOperation, error) {
	return answer(ctx, f.fake, "MoveOperations", func() []MoveOperation { return slices.Clone(f.ops) })
}

func (f *fakeMigrations) Counts(ctx context.Context, _ Namespace) (map[string]int64, error) {
	return answer(ctx, f.fake, "Counts", func() map[string]int64 { return maps.Clone(f.counts) })
}

// Sizes has 1,000 documents of 100 bytes on each shard.
func (f *fakeMigrations) Sizes(ctx context.Context, ns Namespace) (Sizes, error) {
	s, err := f.fake.Sizes(ctx, ns)
	known := func(n int64) Figure { return Figure{Known: true, Value: n, Method: "collStats", At: time.Now()} }
	for _, name := range []string{"a", "b", "c"} {
		if err == nil {
			s.Shards[name] = Size{Documents: known(1000), Bytes: known(100_000)}
		}
	}
	return s, err
}

// newFakeMigrations has a collection db.x with bounds at 0 and 100; its chunks are on
// a, b and c.
func newFakeMigrations(t *testing.T) *fakeMigrations {
	f := &fakeMigrations{fake: newFake(t), counts: map[string]int64{"a": 1000, "b": 1000, "c": 1000}}
	f.add("db.x", 1, 0, 100)
	return f
}

func (f *fakeMigrations) bound(n int64) bson.Raw {
	c := f.colls["db.x"]
	doc, err := c.meta.Key.Document(row(f.t, c.meta.Key, n, highest, "a", 1, 0).Min)
	must.Do(f.t, err)
	return doc
}

// begin adds a migration of the second chunk from b to c.
func (f *fakeMigrations) begin(at time.Time) Migration {
	m := Migration{NS: "db.x", Min: f.bound(0), Max: f.bound(100), From: "b", To: "c", Begun: at}
	f.change(func() { f.list = []Migration{m} })
	return m
}

// logEntry is the changelog entry of a move of the second chunk.
func (f *fakeMigrations) logEntry(id, what string, at time.Time) Event {
	d, err := bson.Marshal(
		bson.D{{Key: "min", Value: f.bound(0)}, {Key: "max", Value: f.bound(100)}, {Key: "from", Value: "b"}, {Key: "to", Value: "c"}},
	)
	must.Do(f.t, err)
	return Event{ID: id, Time: at, What: what, NS: "db.x", Shard: "b", Details: d}
}

func watchMigrations(t *testing.T, f *fakeMigrations, body func(w *Watcher)) {
	t.Helper()
	watch(t, f, Options{}, func(w *Watcher) {
		wait(30 * time.Second) // all sizes are read
		body(w)
	})
}
