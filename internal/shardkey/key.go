package shardkey

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// Key is a complete shard-key value or bound: every field, hashed fields already as
// their hash (or MinKey/MaxKey). Equal keys may have different type bits (1, 1L and
// 1.0): use Compare. == is true only for identical BSON, as needed for detecting
// changes.
type Key struct{ enc, bits string }

// FromParts is the key with these Encoded and Bits; they are checked when the key is
// decoded.
func FromParts(enc, bits string) Key { return Key{enc, strings.TrimRight(bits, "\x00")} }

// Compare is the canonical order of the server: negative, zero or positive.
func (k Key) Compare(o Key) int { return strings.Compare(k.enc, o.enc) }

// Later is the greater of two keys.
func Later(a, b Key) Key {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

// Earlier is the lesser of two keys.
func Earlier(a, b Key) Key {
	if b.Compare(a) < 0 {
		return b
	}
	return a
}

// CompareEncoded is Compare with the encoding of a key that was appended to a
// buffer. It does not allocate.
func (k Key) CompareEncoded(enc []byte) int {
	switch { // comparisons of a converted slice do not copy it
	case k.enc < string(enc):
		return -1
	case k.enc == string(enc):
		return 0
	}
	return 1
}

// Encoded is the byte-comparable part.
func (k Key) Encoded() string { return k.enc }

// Bits is the other part, which distinguishes equal keys of different types.
func (k Key) Bits() string { return k.bits }

// IsZero reports whether there is no key at all.
func (k Key) IsZero() bool { return k.enc == "" }

// newKey makes a key from copies of enc and bits.
func newKey(enc, bits []byte) Key {
	n := len(bits)
	for n > 0 && bits[n-1] == 0 {
		n--
	}
	return Key{string(enc), string(bits[:n])}
}

// IsPrefixEnd reports whether k is the upper bound of a PrefixRange: it is after every
// key with that prefix and is not itself a key.
func (k Key) IsPrefixEnd() bool {
	if k.enc == "" || k.enc[len(k.enc)-1] != afterPrefix {
		return false
	}
	d := decoder(k) // other keys may also end in this byte
	var scratch []byte
	var err error
	for d.enc != "" && d.enc[0] != afterPrefix {
		if _, scratch, err = d.value(scratch[:0], 0); err != nil {
			return false
		}
	}
	return len(d.enc) == 1
}

// Values returns the exact BSON of each field in pattern order. It fails with
// fault.Invalid for a key with another number of fields, for the upper bound of a
// prefix range and for damaged keys.
func (p Pattern) Values(k Key) ([]bson.RawValue, error) {
	values, rest, err := p.decode(k)
	if err == nil && (rest != decoder{} || len(values) != len(p.fields)) {
		err = errEncoding
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "This is not a key of the shard key %s.", p)
	}
	return values, nil
}

// Document returns the key as the server stores bounds: one element per field, named by
// its full path. It fails like Values.
func (p Pattern) Document(k Key) (bson.Raw, error) {
	values, err := p.Values(k)
	if err != nil {
		return nil, err
	}
	return p.document(values), nil
}

// decode gives the values at the start of k, at most one per field, and remaining
// bytes: nothing, or the mark that ends a prefix range.
func (p Pattern) decode(k Key) (values []bson.RawValue, rest decoder, err error) {
	d := decoder(k)
	values = make([]bson.RawValue, 0, len(p.fields))
	for range p.fields {
		if d.enc == "" || d.enc[0] == afterPrefix {
			break
		}
		t, value, err := d.value(nil, 0)
		if err != nil {
			return values, d, err
		}
		values = append(values, bson.RawValue{Type: t, Value: value})
	}
	return values, d, nil
}
