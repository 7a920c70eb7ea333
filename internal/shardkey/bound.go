package shardkey

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// Bound parses a chunk or zone bound: exactly the pattern's fields in order,
// hashed ones as int64, MinKey or MaxKey. Anything else is fault.Invalid.
func (p Pattern) Bound(doc bson.Raw) (Key, error) { return p.bound(doc, false) }

// PrefixBound is Bound for a document that may lack the last fields: they become MinKey
// in both bounds, as the server extends zone ranges (s/shard_key_pattern.cpp,
// extendRangeBound).
func (p Pattern) PrefixBound(doc bson.Raw) (Key, error) { return p.bound(doc, true) }

func (p Pattern) bound(doc bson.Raw, prefix bool) (Key, error) {
	var encRoom, bitsRoom [64]byte
	enc, bits, err := p.appendBound(encRoom[:0], bitsRoom[:0], doc, prefix)
	if err != nil {
		return Key{}, err
	}
	return newKey(enc, bits), nil
}

// AppendBound appends what Bound's key has as Encoded and as Bits to enc and bits, like
// append, for those who read many bounds and keep few.
func (p Pattern) AppendBound(enc, bits []byte, doc bson.Raw) (encoded, typeBits []byte, err error) {
	begin := len(bits)
	if enc, bits, err = p.appendBound(enc, bits, doc, false); err != nil {
		return nil, nil, err
	}
	n := len(bits)
	for n > begin && bits[n-1] == 0 {
		n--
	}
	return enc, bits[:n], nil
}

func (p Pattern) appendBound(enc, bits []byte, doc bson.Raw, prefix bool) (encoded, typeBits []byte, err error) {
	rest, err := elementsOf(doc)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Invalid, err, "The bound is not well-formed BSON.")
	}
	n := 0
	for ; len(rest) > 0; n++ {
		var e element
		if e, rest, err = next(rest); err != nil {
			return nil, nil, fault.Wrap(fault.Invalid, err, "The bound is not well-formed BSON.")
		}
		if n == len(p.fields) || string(e.name) != p.fields[n].Name {
			return nil, nil, p.fieldsError()
		}
		if p.fields[n].Hashed && e.typ != bson.TypeInt64 && e.typ != bson.TypeMinKey && e.typ != bson.TypeMaxKey {
			return nil, nil, fault.New(fault.Invalid,
				"The field %q is hashed: a bound needs the hash as a NumberLong there, MinKey or MaxKey.", p.fields[n].Name)
		}
		if enc, bits, err = p.appendPlain(enc, bits, n, e.typ, e.value); err != nil {
			return nil, nil, err
		}
	}
	if n == 0 || n < len(p.fields) && !prefix {
		return nil, nil, p.fieldsError()
	}
	for range p.fields[n:] {
		enc = append(enc, classMinKey)
	}
	return enc, bits, nil
}

func (p Pattern) fieldsError() error {
	return fault.New(fault.Invalid, "A bound of this collection must have exactly the fields of its shard key %s, in this order.", p)
}

// KeyOf is the key of plain field values in pattern order; hashing is applied
// where the pattern says. There must be as many values as fields.
func (p Pattern) KeyOf(values ...bson.RawValue) (Key, error) {
	var encRoom, bitsRoom [64]byte
	enc, bits, err := p.appendKeyOf(encRoom[:0], bitsRoom[:0], values...)
	if err != nil {
		return Key{}, err
	}
	return newKey(enc, bits), nil
}

// appendKeyOf appends the encoding and the type bits of KeyOf's key to enc and bits,
// like append. It does not allocate while they have capacity, unless a document is to
// be hashed. Compare the result with Key.CompareEncoded.
func (p Pattern) appendKeyOf(enc, bits []byte, values ...bson.RawValue) ([]byte, []byte, error) {
	if len(values) != len(p.fields) || len(values) == 0 {
		return nil, nil, fault.New(fault.Invalid, "The shard key %s needs %d values, not %d.", p, len(p.fields), len(values))
	}
	return p.appendFields(enc, bits, values)
}

// appendFields appends values of the first fields.
func (p Pattern) appendFields(enc, bits []byte, values []bson.RawValue) ([]byte, []byte, error) {
	var err error
	for i := range values {
		if enc, bits, err = p.appendField(enc, bits, i, values[i].Type, values[i].Value); err != nil {
			return nil, nil, err
		}
	}
	return enc, bits, nil
}

// appendField appends the value that a document has in field i.
func (p Pattern) appendField(enc, bits []byte, i int, t bson.Type, value []byte) ([]byte, []byte, error) {
	if !p.fields[i].Hashed || t == bson.TypeArray {
		return p.appendPlain(enc, bits, i, t, value)
	}
	h, err := hashValue(t, value)
	if err != nil {
		return nil, nil, p.fieldError(i, err)
	}
	return appendInt64(enc, h), append(bits, bitsInt64), nil
}

// appendPlain appends a value as it is.
func (p Pattern) appendPlain(enc, bits []byte, i int, t bson.Type, value []byte) ([]byte, []byte, error) {
	if t == bson.TypeArray {
		return nil, nil, fault.New(fault.Invalid, "The shard key field %q cannot be an array.", p.fields[i].Name)
	}
	enc, bits, err := appendValue(enc, bits, t, value, 0)
	if err != nil {
		return nil, nil, p.fieldError(i, err)
	}
	return enc, bits, nil
}

func (p Pattern) fieldError(i int, err error) error {
	if errors.Is(err, errDeep) {
		return fault.Wrap(fault.Invalid, err, "The value of %q is nested more than %d levels deep.", p.fields[i].Name, maxDepth)
	}
	return fault.Wrap(fault.Invalid, err, "The value of %q is not well-formed BSON.", p.fields[i].Name)
}
