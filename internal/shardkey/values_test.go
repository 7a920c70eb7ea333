package shardkey

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// mustPattern makes a pattern; a name that ends in # is hashed.
func mustPattern(t testing.TB, names ...string) Pattern {
	t.Helper()
	doc := bson.D{}
	for _, name := range names {
		if n := len(name) - 1; name[n] == '#' {
			doc = append(doc, bson.E{Key: name[:n], Value: "hashed"})
		} else {
			doc = append(doc, bson.E{Key: name, Value: 1})
		}
	}
	p := must.Get(ParsePattern(mustDoc(t, doc)))
	return p
}

func mustDoc(t testing.TB, doc any) bson.Raw {
	t.Helper()
	raw := must.Get(bson.Marshal(doc))
	return raw
}

func rawValue(t testing.TB, v any) bson.RawValue {
	t.Helper()
	return mustDoc(t, bson.D{{Key: "v", Value: v}}).Lookup("v")
}
