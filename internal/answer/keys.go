package answer

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// keyPosition reads what a person types as a place in the key space: an
// ObjectID or a number for the first field (a number in a hashed field is the
// hash itself), or a document in Extended JSON.
func KeyPosition(p shardkey.Pattern, s string) (shardkey.Range, bool) {
	if id, err := bson.ObjectIDFromHex(s); err == nil {
		r, err := p.PrefixRange(bson.RawValue{Type: bson.TypeObjectID, Value: id[:]})
		return r, err == nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return numberPosition(p, n)
	}
	doc, err := shardkey.ParseExtJSON(s)
	if err != nil {
		return shardkey.Range{}, false
	}
	if k, err := p.Bound(doc); err == nil {
		return shardkey.Range{Min: k, Max: after(k)}, true
	}
	var values []bson.RawValue
	for _, f := range p.Fields() {
		v, err := doc.LookupErr(strings.Split(f.Name, ".")...)
		if err != nil {
			break
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return shardkey.Range{}, false
	}
	r, err := p.PrefixRange(values...)
	return r, err == nil
}

func numberPosition(p shardkey.Pattern, n int64) (shardkey.Range, bool) {
	_, value, err := bson.MarshalValue(n)
	if err != nil {
		return shardkey.Range{}, false
	}
	if p.Hashed() == 0 && p.Len() == 1 {
		doc, err := bson.Marshal(bson.D{{Key: p.Fields()[0].Name, Value: n}})
		if err != nil {
			return shardkey.Range{}, false
		}
		k, err := p.Bound(doc)
		return shardkey.Range{Min: k, Max: after(k)}, err == nil
	}
	r, err := p.PrefixRange(bson.RawValue{Type: bson.TypeInt64, Value: value})
	return r, err == nil
}

// after is the least key above k: encodings are byte-comparable.
func after(k shardkey.Key) shardkey.Key { return shardkey.FromParts(k.Encoded()+"\x00", k.Bits()) }
