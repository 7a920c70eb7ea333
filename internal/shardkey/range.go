package shardkey

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// Range is [Min, Max) in canonical order.
type Range struct{ Min, Max Key }

// IsEmpty reports whether no key can be in r.
func (r Range) IsEmpty() bool { return r.Min.Compare(r.Max) >= 0 }

// Contains reports whether k is in r.
func (r Range) Contains(k Key) bool { return r.Min.Compare(k) <= 0 && k.Compare(r.Max) < 0 }

// Overlaps reports whether r and o have common keys; an empty range overlaps nothing.
func (r Range) Overlaps(o Range) bool {
	return r.Min.Compare(o.Max) < 0 && o.Min.Compare(r.Max) < 0 && !r.IsEmpty() && !o.IsEmpty()
}

// Covers reports whether r contains all of o; every range covers an empty one.
func (r Range) Covers(o Range) bool {
	return o.IsEmpty() || r.Min.Compare(o.Min) <= 0 && o.Max.Compare(r.Max) <= 0
}

// Range parses the two bounds of a chunk, zone or move; fault.Invalid if one does not fit the pattern.
func (p Pattern) Range(lower, upper bson.Raw) (r Range, err error) {
	if r.Min, err = p.Bound(lower); err != nil {
		return Range{}, err
	}
	if r.Max, err = p.Bound(upper); err != nil {
		return Range{}, err
	}
	return r, nil
}

// Min is the lower end of the key space: MinKey in every field.
func (p Pattern) Min() Key { return Key{enc: strings.Repeat("\x01", len(p.fields))} }

// Max is the upper end of the key space: MaxKey in every field. It is an exclusive
// bound: no chunk contains this key.
func (p Pattern) Max() Key { return Key{enc: strings.Repeat("\xf0", len(p.fields))} }

// PrefixRange is the range of all keys that begin with these plain values, which are
// hashed where the pattern requires it. Min has MinKey in the other fields. Max is just
// above every key with the prefix, including {prefix, MaxKey}, and is not itself a key:
// see Key.IsPrefixEnd.
func (p Pattern) PrefixRange(values ...bson.RawValue) (Range, error) {
	if len(values) > len(p.fields) {
		return Range{}, fault.New(fault.Invalid, "The shard key %s has %d fields; %d values are too many.", p, len(p.fields), len(values))
	}
	var encRoom, bitsRoom [64]byte
	enc, bits, err := p.appendFields(encRoom[:0], bitsRoom[:0], values)
	if err != nil {
		return Range{}, err
	}
	end := newKey(append(enc, afterPrefix), bits)
	for range p.fields[len(values):] {
		enc = append(enc, classMinKey)
	}
	return Range{newKey(enc, bits), end}, nil
}
