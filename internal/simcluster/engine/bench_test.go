package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
)

func marshal(t testing.TB, v any) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// changesCollection makes a collection like Yorkie's changes, with its three secondary
// indexes.
func changesCollection(t testing.TB) *engine.Coll {
	t.Helper()
	c := engine.NewNode("shard").Create("db", "changes", [16]byte{}, nil)
	for _, spec := range []bson.D{
		{{Key: "key", Value: bson.D{{Key: "doc_id", Value: 1}, {Key: "project_id", Value: 1}, {Key: "server_seq", Value: 1}}},
			{Key: "unique", Value: true}},
		{{Key: "key", Value: bson.D{{Key: "doc_id", Value: 1}, {Key: "project_id", Value: 1}, {Key: "actor_id", Value: 1},
			{Key: "server_seq", Value: 1}}}, {Key: "unique", Value: true}},
		{{Key: "key", Value: bson.D{{Key: "doc_id", Value: "hashed"}}}},
	} {
		if _, err := c.EnsureIndex(spec); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func changeDocument(t testing.TB, i int) bson.Raw {
	id := func(n int) (o bson.ObjectID) {
		copy(o[:], fmt.Sprintf("%012d", n))
		return o
	}
	return marshal(t, bson.D{{Key: "_id", Value: id(i)}, {Key: "doc_id", Value: id(i / 20 * 7919 % 50021)},
		{Key: "project_id", Value: id(i % 60 * 0)},
		{Key: "server_seq", Value: int64(i % 20)}, {Key: "actor_id", Value: id(i / 40)}, {Key: "client_seq", Value: int64(i)},
		{Key: "message", Value: ""}, {Key: "operations", Value: bson.A{make([]byte, 90)}}, {Key: "presence_change", Value: nil}})
}

func BenchmarkInsertWithThreeIndexes(b *testing.B) {
	docs := make([]bson.Raw, b.N)
	for i := range docs {
		docs[i] = changeDocument(b, i)
	}
	c := changesCollection(b)
	b.ReportAllocs()
	b.ResetTimer()
	for i, d := range docs {
		if _, err := c.Insert(d); err != nil {
			b.Fatal(i, err)
		}
	}
}

func BenchmarkIndexedFind(b *testing.B) {
	c := changesCollection(b)
	for i := range 100_000 {
		if _, err := c.Insert(changeDocument(b, i)); err != nil {
			b.Fatal(err)
		}
	}
	filters := make([]bson.Raw, 1000)
	for i := range filters {
		d := changeDocument(b, i*97)
		filters[i] = marshal(b, bson.D{{Key: "doc_id", Value: d.Lookup("doc_id")},
			{Key: "project_id", Value: d.Lookup("project_id")}, {Key: "server_seq", Value: bson.D{{Key: "$gte", Value: 10}}}})
	}
	order := marshal(b, bson.D{{Key: "server_seq", Value: -1}})
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		f, err := query.Parse(filters[i%len(filters)], nil)
		if err != nil {
			b.Fatal(err)
		}
		cur := c.Query(engine.Query{Filter: f, Sort: order, Limit: 5})
		n := 0
		for cur.Next() {
			n++
		}
		if cur.Err() != nil || n != 5 {
			b.Fatalf("got %v, %v, %v, want n 5", n, cur.Err(), cur.Plan())
		}
	}
}

func BenchmarkMemoryOf200kRows(b *testing.B) {
	for range b.N {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := changesCollection(b)
		for i := range 200_000 {
			if _, err := c.Insert(changeDocument(b, i)); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/200_000, "B/doc")
		b.ReportMetric(float64(c.Bytes())/200_000, "BSON-B/doc")
		runtime.KeepAlive(c)
	}
}
