package value

import (
	"crypto/md5"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
