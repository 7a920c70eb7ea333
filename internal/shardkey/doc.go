// Package shardkey holds shard-key values exactly as MongoDB orders, hashes
// and stores them.
//
// A Key is two strings. Encoded orders keys: comparing it byte by byte is the
// server's canonical comparison across all BSON types, and every field of a
// compound key is prefix-free, so fields are simply concatenated. Bits keeps
// what that order does not see (1, 1L, 1.0 and NumberDecimal("1.00") are equal
// keys), so that the two together give the BSON back byte for byte. Routing
// tables hold millions of bounds: a hashed bound costs 10 bytes, an ObjectID
// 13, and neither needs any bits.
//
// Everything here is pure, immutable and safe for concurrent use. BSON comes
// from a cluster or a browser and is treated as hostile: malformed input is a
// fault.Invalid error, never a panic, and memory is linear in the input.
//
// The rules are those of MongoDB 5.0.7: bson/bsonelement.cpp (comparison),
// db/hasher.cpp (hash), s/shard_key_pattern.cpp (keys of documents).
package shardkey
