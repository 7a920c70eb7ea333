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

// Overlaps reports whether r and o have a part in common; an empty range has
// none with any.
func (r Range) Overlaps(o Range) bool {
	return r.Min.Compare(o.Max) < 0 && o.Min.Compare(r.Max) < 0 && !r.IsEmpty() && !o.IsEmpty()
}

// Covers reports whether all of o is in r; an empty range is in every one.
func (r Range) Covers(o Range) bool {
	return o.IsEmpty() || r.Min.Compare(o.Min) <= 0 && o.Max.Compare(r.Max) <= 0
}

// Min is the lower end of the key space: MinKey in every field.
func (p Pattern) Min() Key { return Key{enc: strings.Repeat("\x01", len(p.fields))} }

// Max is the upper end of the key space: MaxKey in every field. Being an
// exclusive bound, it is the one key that no chunk contains.
func (p Pattern) Max() Key { return Key{enc: strings.Repeat("\xf0", len(p.fields))} }

// PrefixRange is the range of every key that begins with these plain values
// (hashing applied where the pattern says). Min has MinKey in the other
// fields; Max is just above every key with that prefix, so it also covers
// {prefix, MaxKey}, and is no key itself: Key.IsPrefixEnd.
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
