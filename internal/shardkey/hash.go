package shardkey

import (
	"crypto/md5"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// Hash is MongoDB's hashed-index hash of a value (seed 0): the first 8 bytes
// of an MD5 over type and value (db/hasher.cpp). Numbers are hashed as int64,
// so 1, 1L, 1.0 and 1.9 collide; a missing field hashes like null. An array is
// fault.Invalid: the server refuses it in a hashed index (code 16766).
func Hash(v bson.RawValue) (int64, error) {
	switch {
	case v.Type == bson.TypeObjectID && len(v.Value) == len(bson.ObjectID{}): // the most frequent case
		return HashObjectID(bson.ObjectID(v.Value)), nil
	case v.Type == bson.TypeArray:
		return 0, fault.New(fault.Invalid, "An array has no place in a hashed field, so it has no hash.")
	}
	h, err := hashValue(v.Type, v.Value)
	if err != nil {
		return 0, fault.Wrap(fault.Invalid, err, "The value to hash is not well-formed BSON.")
	}
	return h, nil
}

// HashObjectID is Hash of an ObjectID. It does not allocate.
func HashObjectID(id bson.ObjectID) int64 {
	var b [8 + len(id)]byte
	b[4] = 35
	copy(b[8:], id[:])
	return digest(b[:])
}

func digest(b []byte) int64 {
	sum := md5.Sum(b)
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// hashValue hashes any value, arrays too.
func hashValue(t bson.Type, value []byte) (int64, error) {
	var buf [128]byte
	b, err := appendHashed(buf[:4], t, nil, value, 0) // 4 bytes of seed
	if err != nil {
		return 0, err
	}
	return digest(b), nil
}

// appendHashed appends what the server feeds to MD5 for one element: type,
// name if nested, value. It calls itself only, for the reason that appendValue
// does.
func appendHashed(b []byte, t bson.Type, name, value []byte, depth int) ([]byte, error) {
	n, err := valueSize(t, value)
	if err != nil {
		return nil, err
	}
	if n != len(value) {
		return nil, errMalformed
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(canonicalType(t)))
	if depth > 0 {
		b = append(append(b, name...), 0)
	}
	doc := value
	switch t {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		long, _ := hashedInt64(t, value)
		return binary.LittleEndian.AppendUint64(b, uint64(long)), nil
	case bson.TypeEmbeddedDocument, bson.TypeArray:
	case bson.TypeCodeWithScope:
		code, scope := splitCodeWithScope(value)
		b, doc = append(append(b, code...), 0), scope
	default:
		return append(b, value...), nil
	}
	if depth >= maxDepth {
		return nil, errDeep
	}
	rest, err := elementsOf(doc)
	if err != nil {
		return nil, err
	}
	for len(rest) > 0 {
		var e element
		if e, rest, err = next(rest); err != nil {
			return nil, err
		}
		if b, err = appendHashed(b, e.typ, e.name, e.value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, 0, 0, 0, 0), nil
}

// canonicalType is the server's number for a group of types
// (bson/bsontypes.h, canonicalizeBSONType); it is part of what is hashed.
func canonicalType(t bson.Type) int32 {
	switch t {
	case bson.TypeMinKey:
		return -1
	case bson.TypeMaxKey:
		return 127
	case bson.TypeNull:
		return 5
	case bson.TypeDouble, bson.TypeDecimal128, bson.TypeInt32, bson.TypeInt64:
		return 10
	case bson.TypeString, bson.TypeSymbol:
		return 15
	case bson.TypeEmbeddedDocument:
		return 20
	case bson.TypeArray:
		return 25
	case bson.TypeBinary:
		return 30
	case bson.TypeObjectID:
		return 35
	case bson.TypeBoolean:
		return 40
	case bson.TypeDateTime:
		return 45
	case bson.TypeTimestamp:
		return 47
	case bson.TypeRegex:
		return 50
	case bson.TypeDBPointer:
		return 55
	case bson.TypeJavaScript:
		return 60
	case bson.TypeCodeWithScope:
		return 65
	}
	return 0 // undefined
}
