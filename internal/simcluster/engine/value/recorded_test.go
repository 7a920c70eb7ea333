package value_test

import (
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/value"
	"shardboard/internal/simcluster/replay"
)

func TestHashEqualsTheRecordedServersHash(t *testing.T) {
	n := 0
	for line, err := range replay.Lines("testdata/hash-vectors.jsonl.gz") {
		must.Do(t, err)
		v, _ := value.Lookup(line, "value.v")
		want := must.Get(strconv.ParseInt(line.Lookup("hash").StringValue(), 10, 64))
		if got := value.Hash(v); got != want {
			t.Errorf("hash of %v = %d, the server says %d", v, got, want)
		}
		n++
	}
	must.That(t, n >= 1800, "only %d vectors", n)
}

func TestCompareEqualsTheRecordedServersOrder(t *testing.T) {
	// The server sorts an array by its smallest element and a missing field as null.
	sortKey := func(doc bson.Raw) bson.RawValue {
		v := value.Field(doc, "v")
		if v.Type == 0 {
			return value.Null()
		}
		if v.Type != bson.TypeArray {
			return v
		}
		least := value.Undefined()
		for item := range value.Items(v) {
			if least.Type == bson.TypeUndefined || value.Compare(item, least) < 0 {
				least = item
			}
		}
		return least
	}
	var before bson.Raw
	n := 0
	for doc, err := range replay.Lines("testdata/sort-order.jsonl.gz") {
		must.Do(t, err)
		if n++; n > 1 {
			c := value.Compare(sortKey(before), sortKey(doc))
			if c == 0 {
				c = value.Compare(value.Field(before, "_id"), value.Field(doc, "_id"))
			}
			expect.That(t, c < 0, "%v must come before %v", before, doc)
		}
		before = doc
	}
	must.That(t, n >= 700, "only %d documents", n)
}
