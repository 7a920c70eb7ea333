package value_test

import (
	"bufio"
	"compress/gzip"
	"iter"
	"os"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// readRecordedLines decodes a gzipped file of Extended JSON documents, one a line.
func readRecordedLines(t *testing.T, path string) iter.Seq[bson.Raw] {
	t.Helper()
	return func(yield func(bson.Raw) bool) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		plain, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		scan := bufio.NewScanner(plain)
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			var d bson.D
			if err := bson.UnmarshalExtJSON(scan.Bytes(), true, &d); err != nil {
				t.Fatalf("%s: %v", scan.Text(), err)
			}
			raw, err := bson.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(raw) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHashEqualsTheRecordedServersHash(t *testing.T) {
	n := 0
	for line := range readRecordedLines(t, "testdata/hash-vectors.jsonl.gz") {
		v, _ := value.Lookup(line, "value.v")
		want, err := strconv.ParseInt(line.Lookup("hash").StringValue(), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := value.Hash(v); got != want {
			t.Errorf("hash of %v = %d, the server says %d", v, got, want)
		}
		n++
	}
	if n < 1800 {
		t.Fatalf("only %d vectors", n)
	}
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
	for doc := range readRecordedLines(t, "testdata/sort-order.jsonl.gz") {
		if n++; n > 1 {
			c := value.Compare(sortKey(before), sortKey(doc))
			if c == 0 {
				c = value.Compare(value.Field(before, "_id"), value.Field(doc, "_id"))
			}
			if c >= 0 {
				t.Errorf("%v must come before %v", before, doc)
			}
		}
		before = doc
	}
	if n < 700 {
		t.Fatalf("only %d documents", n)
	}
}
