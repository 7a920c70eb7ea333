package shardkey

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// testdata has hashes, sort orders and routed queries recorded from MongoDB 5.0.7, one
// Extended JSON document per line.

func readLines(t testing.TB, name string) []bson.Raw {
	t.Helper()
	f := must.Get(os.Open(filepath.Join("testdata", name+".jsonl.gz")))
	defer func() { _ = f.Close() }()
	z := must.Get(gzip.NewReader(f))
	var docs []bson.Raw
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var doc bson.Raw
		must.Do(t, bson.UnmarshalExtJSON(lines.Bytes(), true, &doc))
		docs = append(docs, doc)
	}
	if lines.Err() != nil || len(docs) == 0 {
		t.Fatalf("%s: %d lines, %v, want len(docs) more than 0", name, len(docs), lines.Err())
	}
	return docs
}

func TestHashEqualsTheRecordedServersHash(t *testing.T) {
	docs := readLines(t, "hash-vectors")
	arrays := 0
	for _, doc := range docs {
		v, err := doc.LookupErr("value", "v")
		must.That(t, err == nil, "%s: %v", doc, err)
		want := doc.Lookup("hash").StringValue()
		got, err := hashValue(v.Type, v.Value)
		if err != nil || strconv.FormatInt(got, 10) != want {
			t.Errorf("hash of %s = %d, %v; the server says %s", v, got, err, want)
		}
		exported, err := Hash(v)
		switch {
		case v.Type == bson.TypeArray:
			arrays++
			expect.That(t, err != nil, "Hash accepts the array %s, want an error", v)
		case err != nil || exported != got:
			t.Errorf("Hash(%s) = %d, %v", v, exported, err)
		case v.Type == bson.TypeObjectID && HashObjectID(v.ObjectID()) != got:
			t.Errorf("HashObjectID(%s) differs from Hash", v)
		}
	}
	t.Logf("%d vectors, %d of them arrays", len(docs), arrays)
}

func TestOrderEqualsTheRecordedServersOrder(t *testing.T) {
	docs := readLines(t, "sort-order")
	both := mustPattern("v", "_id")
	keys := make([]Key, len(docs))
	for i, doc := range docs {
		k, err := both.Extract(doc)
		must.That(t, err == nil, "%s: %v", doc, err)
		keys[i] = k
		if i > 0 && keys[i-1].Compare(k) >= 0 {
			t.Errorf("line %d: %s does not come after %s", i+1, both.Display(k), both.Display(keys[i-1]))
		}
		back, err := both.Values(k)
		if v := doc.Lookup("v"); err != nil || back[0].Type != v.Type || !bytes.Equal(back[0].Value, v.Value) {
			t.Errorf("%s comes back as %v, %v", doc, back, err)
		}
	}
	t.Logf("%d values in the server's order", len(docs))
}

func TestEveryRecordedQueryIsLocatedOnTheShardThatServedIt(t *testing.T) {
	type chunk struct {
		Range
		shard string
	}
	patterns := map[string]Pattern{}
	tables := map[string][]chunk{}
	queries := 0
	for _, doc := range readLines(t, "routing") {
		coll := doc.Lookup("coll").StringValue()
		if c, err := doc.LookupErr("chunk"); err == nil {
			p := must.Get(ParsePattern(doc.Lookup("key").Document()))
			minKey, err1 := p.Bound(c.Document().Lookup("min").Document())
			maxKey, err2 := p.Bound(c.Document().Lookup("max").Document())
			must.That(t, err1 == nil && err2 == nil, "got %v, %v, want err1 nil, err2 nil", err1, err2)
			patterns[coll] = p
			tables[coll] = append(tables[coll], chunk{Range{minKey, maxKey}, c.Document().Lookup("shard").StringValue()})
			continue
		}
		if queries == 0 {
			for coll, table := range tables {
				slices.SortFunc(table, func(a, b chunk) int { return a.Min.Compare(b.Min) })
				for i := 1; i < len(table); i++ {
					must.That(t, table[i-1].Max == table[i].Min, "%s: gap before chunk %d", coll, i)
				}
				if p := patterns[coll]; table[0].Min != p.Min() || table[len(table)-1].Max != p.Max() {
					t.Fatalf("%s: the table does not cover the key space", coll)
				}
			}
		}
		queries++
		k, err := patterns[coll].Extract(doc.Lookup("query").Document())
		must.Do(t, err)
		table := tables[coll]
		at, _ := slices.BinarySearchFunc(table, k, func(c chunk, k Key) int {
			if c.Max.Compare(k) <= 0 {
				return -1
			}
			return 1
		})
		shards, err := doc.Lookup("shards").Array().Values()
		if err != nil || len(shards) != 1 || shards[0].StringValue() != table[at].shard {
			t.Errorf("%s: found on %s", doc, table[at].shard)
		}
	}
	t.Logf("%d queries located", queries)
}
