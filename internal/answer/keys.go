package answer

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
)

// KeyPosition reads what a person types as a place in the key space: an
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
	doc, err := shardkey.ParseKey(s)
	if err != nil {
		return shardkey.Range{}, false
	}
	if k, err := p.Bound(doc); err == nil {
		return shardkey.Range{Min: k, Max: after(k)}, true
	}
	values := p.GivenPrefix(doc)
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

// BoundKey reads a bound as the API writes it: hashed fields are hashes.
func BoundKey(p shardkey.Pattern, text string) (shardkey.Key, error) {
	doc, err := shardkey.ParseKey(text)
	if err != nil {
		return shardkey.Key{}, notExtJSON(err)
	}
	k, err := p.Bound(doc)
	return k, fault.Wrap(fault.Invalid, err, "This is not a bound of the shard key %s.", p)
}

// PlainKey reads the values of a document's shard key; hashed fields are
// hashed here. A missing field is an error, unlike in a stored document where
// it is null: nobody who asks for one chunk means null by leaving half of the
// key out.
func PlainKey(p shardkey.Pattern, text string) (shardkey.Key, error) {
	doc, err := shardkey.ParseKey(text)
	if err != nil {
		return shardkey.Key{}, notExtJSON(err)
	}
	values := p.GivenPrefix(doc)
	if len(values) < p.Len() {
		return shardkey.Key{}, fault.New(fault.Invalid, "The key must have every field of the shard key %s.", p)
	}
	k, err := p.KeyOf(values...)
	return k, fault.Wrap(fault.Invalid, err, "This is not a value of the shard key %s.", p)
}

// notExtJSON keeps the parser's own sentence, which says where it stopped.
func notExtJSON(err error) error {
	if fault.Of(err) == fault.Invalid {
		return err
	}
	return fault.Wrap(fault.Invalid, err, "This is not a document in Extended JSON.")
}
