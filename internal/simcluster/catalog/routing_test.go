package catalog

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
	"shardboard/internal/simcluster/replay"
)

// routingTable builds a routing table from recorded chunk documents.
func routingTable(t *testing.T, key bson.Raw, chunks []bson.Raw) *Routing {
	t.Helper()
	p, err := parsePattern(key)
	must.Do(t, err)
	r := &Routing{Key: p.raw, pattern: p}
	list := make([]*Chunk, len(chunks))
	for i, d := range chunks {
		list[i] = release{}.parseChunk(0, d)
	}
	r.setChunks(list)
	return r
}

func TestFiltersTargetTheShardsOfTheRecordedServer(t *testing.T) {
	chunks := make(map[string][]bson.Raw)
	keys := make(map[string]bson.Raw)
	type line struct {
		Coll              string
		Key, Chunk, Query bson.Raw
		Want              []string `bson:"shards"`
	}
	var queries []line
	for raw, err := range replay.Lines("../testdata/recordings/routing.jsonl.gz") {
		var l line
		if err == nil {
			err = bson.Unmarshal(raw, &l)
		}
		switch {
		case err != nil:
			t.Fatal(err)
		case l.Chunk == nil:
			queries = append(queries, l)
		default:
			keys[l.Coll] = l.Key
			chunks[l.Coll] = append(chunks[l.Coll], l.Chunk)
		}
	}
	tables := make(map[string]*Routing)
	for coll, key := range keys {
		tables[coll] = routingTable(t, key, chunks[coll])
	}
	for _, q := range queries {
		f, err := query.Parse(q.Query, nil)
		must.Do(t, err)
		slices.Sort(q.Want)
		expect.EqualSlices(t, tables[q.Coll].Target(f), q.Want, "%s %s: to", q.Coll, q.Query)
	}
	must.That(t, len(queries) >= 900, "only %d queries", len(queries))
}

// A key of a field inside of another one has the field's whole path as its name, and no array on the way.
func TestKeyOfANestedFieldHasItsPathAsName(t *testing.T) {
	p, err := parsePattern(encode(bson.D{{Key: "a.b", Value: 1}, {Key: "c.d", Value: "hashed"}}))
	must.Do(t, err)
	inner := func(name string, v any) bson.D { return bson.D{{Key: name, Value: v}} }
	null := encode(bson.D{{Key: "a.b", Value: nil}, {Key: "c.d", Value: value.Hash(value.Null())}})
	for _, tc := range []struct {
		doc  bson.D
		want bson.Raw // nil: refused
	}{
		{bson.D{{Key: "a", Value: inner("b", "x")}, {Key: "c", Value: inner("d", nil)}},
			encode(bson.D{{Key: "a.b", Value: "x"}, {Key: "c.d", Value: value.Hash(value.Null())}})},
		{bson.D{}, null},
		{inner("a", "text"), null},
		{inner("a.b", "a name with a dot"), null},
		{inner("a", bson.A{inner("b", 1)}), nil},
		{inner("a", inner("b", bson.A{1})), nil},
		{inner("c", bson.A{1}), nil},
	} {
		got, err := p.keyOf(encode(tc.doc))
		if (err != nil) != (tc.want == nil) || err == nil && value.CompareDocs(got, tc.want) != 0 {
			t.Errorf("%v: got %v, %v; want %v", tc.doc, got, err, tc.want)
		}
	}
}
