package value

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Rank is the canonical type of BSON order (src/mongo/bson/bsontypes.h): all number types share
// one rank, so do string and symbol. Missing and undefined are 0.
func Rank(t bson.Type) int {
	switch t {
	case bson.TypeMinKey:
		return -1
	case 0, bson.TypeUndefined:
		return 0
	case bson.TypeNull:
		return 5
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
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
	case bson.TypeMaxKey:
		return 127
	}
	return 126
}

// Compare is MongoDB's canonical order with the simple collation: -1, 0 or 1. It is a total
// preorder: values of other types can be equal (1, 1.0 and Decimal128 1).
func Compare(a, b bson.RawValue) int {
	rank := Rank(a.Type)
	if c := cmp.Compare(rank, Rank(b.Type)); c != 0 {
		return c
	}
	switch rank {
	case 10:
		return CompareNumbers(a, b)
	case 15, 60:
		return bytes.Compare(text(a), text(b))
	case 20, 25:
		return CompareDocs(a.Value, b.Value)
	case 30:
		// Length, then subtype, then bytes. Value is length, subtype, bytes.
		return cmp.Or(
			cmp.Compare(int32(binary.LittleEndian.Uint32(a.Value)), int32(binary.LittleEndian.Uint32(b.Value))),
			bytes.Compare(a.Value[4:], b.Value[4:]),
		)
	case 35, 40:
		return bytes.Compare(a.Value, b.Value)
	case 45:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a.Value)), int64(binary.LittleEndian.Uint64(b.Value)))
	case 47:
		return cmp.Compare(binary.LittleEndian.Uint64(a.Value), binary.LittleEndian.Uint64(b.Value))
	case 50:
		// Pattern NUL flags NUL: NUL sorts before every other byte, as the end of a C string does.
		return bytes.Compare(a.Value, b.Value)
	case 55:
		// DBPointers: the length of the namespace first, then the bytes.
		return cmp.Or(cmp.Compare(len(a.Value), len(b.Value)), bytes.Compare(a.Value, b.Value))
	case 65:
		ac, as := scoped(a)
		bc, bs := scoped(b)
		return cmp.Or(bytes.Compare(ac, bc), CompareDocs(as, bs))
	}
	return 0 // MinKey, MaxKey, null, undefined
}

// CompareDocs orders documents (and arrays) field by field: canonical type, then name, then value;
// a document that is a prefix of the other comes first.
func CompareDocs(a, b bson.Raw) int { return compareElements(a, b, true) }

// CompareKeys orders index and shard keys: values element by element, names ignored.
func CompareKeys(a, b bson.Raw) int { return compareElements(a, b, false) }

func compareElements(a, b bson.Raw, names bool) int {
	x, y := Read(a), Read(b)
	for {
		xok, yok := x.Next(), y.Next()
		switch {
		case !xok && !yok:
			return 0
		case !xok:
			return -1
		case !yok:
			return 1
		}
		if names {
			if c := cmp.Compare(Rank(x.Value.Type), Rank(y.Value.Type)); c != 0 {
				return c
			}
			if c := bytes.Compare(x.Key, y.Key); c != 0 {
				return c
			}
		}
		if c := Compare(x.Value, y.Value); c != 0 {
			return c
		}
	}
}

// Equal reports whether the values have the same place in the order.
func Equal(a, b bson.RawValue) bool { return Compare(a, b) == 0 }

// Identical reports whether type and bytes are the same.
func Identical(a, b bson.RawValue) bool { return a.Type == b.Type && bytes.Equal(a.Value, b.Value) }

// text is the bytes of a string, symbol or code, without length and NUL.
func text(v bson.RawValue) []byte { return v.Value[4 : len(v.Value)-1] }

// scoped splits code with scope (total length, code as a string, scope) into code bytes and scope.
func scoped(v bson.RawValue) (code []byte, scope bson.Raw) {
	end := 8 + int(binary.LittleEndian.Uint32(v.Value[4:]))
	if end < 9 || end > len(v.Value) {
		return nil, nil // malformed
	}
	return v.Value[8 : end-1], bson.Raw(v.Value[end:])
}

// Hash is MongoDB's hash of a value for hashed indexes and shard keys, seed 0
// (src/mongo/db/hasher.cpp): the first 8 bytes of an MD5 over seed, canonical type and value.
// A missing value hashes as null.
func Hash(v bson.RawValue) int64 {
	if v.Type == 0 {
		v.Type = bson.TypeNull
	}
	var room [64]byte
	buf := append(room[:0], 0, 0, 0, 0) // the seed
	sum := md5.Sum(appendHashed(buf, v, nil, false))
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// appendHashed writes what the server feeds to MD5 for one element; the name of the outermost is left out.
func appendHashed(buf []byte, v bson.RawValue, name []byte, named bool) []byte {
	buf = binary.LittleEndian.AppendUint32(buf, uint32(int32(Rank(v.Type))))
	if named {
		buf = append(append(buf, name...), 0)
	}
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return binary.LittleEndian.AppendUint64(buf, uint64(hashedLong(v)))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return appendHashedDoc(buf, v.Value)
	case bson.TypeCodeWithScope:
		code, scope := scoped(v)
		return appendHashedDoc(append(append(buf, code...), 0), scope)
	}
	return append(buf, v.Value...) // raw bytes as stored: lengths and NULs included
}

func appendHashedDoc(buf []byte, doc bson.Raw) []byte {
	for r := Read(doc); r.Next(); {
		buf = appendHashed(buf, r.Value, r.Key, true)
	}
	return append(buf, 0, 0, 0, 0) // EOO: a type and nothing else
}

// hashedLong is the number as int64: 1, 1.0 and 1.9 hash alike. Exactly 2^63 as a
// double becomes the smallest int64, as in the server, whose stored hashes depend on
// that conversion.
func hashedLong(v bson.RawValue) int64 {
	if v.Type == bson.TypeDouble && double(v) == 1<<63 {
		return -1 << 63
	}
	n, _ := Long(v)
	return n
}
