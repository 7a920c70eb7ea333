package shardkey

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// mustPattern makes a pattern; a name that ends in # is hashed.
func mustPattern(names ...string) Pattern {
	doc := bson.D{}
	for _, name := range names {
		if n := len(name) - 1; name[n] == '#' {
			doc = append(doc, bson.E{Key: name[:n], Value: "hashed"})
		} else {
			doc = append(doc, bson.E{Key: name, Value: 1})
		}
	}
	return must.Get(ParsePattern(mustDoc(doc)))
}

func mustDoc(doc any) bson.Raw { return must.Get(bson.Marshal(doc)) }

func rawValue(v any) bson.RawValue { return mustDoc(bson.D{{Key: "v", Value: v}}).Lookup("v") }
