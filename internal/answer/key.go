package answer

import (
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
)

// boundKey reads a bound as the API writes it: hashed fields are hashes.
func BoundKey(p shardkey.Pattern, text string) (shardkey.Key, error) {
	doc, err := shardkey.ParseExtJSON(text)
	if err != nil {
		return shardkey.Key{}, notExtJSON(err)
	}
	k, err := p.Bound(doc)
	return k, fault.Wrap(fault.Invalid, err, "This is not a bound of the shard key %s.", p)
}

// plainKey reads the values of a document's shard key; hashed fields are
// hashed here. A missing field is an error, unlike in a stored document where
// it is null: nobody who asks for one chunk means null by leaving half of the
// key out.
func plainKey(p shardkey.Pattern, text string) (shardkey.Key, error) {
	doc, err := shardkey.ParseExtJSON(text)
	if err != nil {
		return shardkey.Key{}, notExtJSON(err)
	}
	values, err := lookupAll(doc.LookupErr, p.Fields())
	if err != nil {
		return shardkey.Key{}, fault.Wrap(fault.Invalid, err, "The key must have every field of the shard key %s.", p)
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

// lookupAll takes "a.b" both as a path and, as chunk bounds write it, as a name.
func lookupAll[V any](lookup func(...string) (V, error), fields []shardkey.Field) ([]V, error) {
	var out []V
	for _, f := range fields {
		v, err := lookup(f.Name)
		if err != nil {
			v, err = lookup(strings.Split(f.Name, ".")...)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
