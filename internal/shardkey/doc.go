// Package shardkey holds shard-key values exactly as MongoDB orders, hashes
// and stores them.
//
// A Key consists of two strings. Encoded defines the order: comparing it byte by byte
// equals the server's comparison of all BSON types. Every encoded field is prefix-free,
// so the fields of a compound key are concatenated. Bits stores the types that the
// order ignores (1, 1L, 1.0 and NumberDecimal("1.00") are equal keys), so that both
// together restore the exact BSON. Routing tables hold millions of bounds: a hashed
// bound takes 10 bytes, an ObjectID 13, and neither needs bits.
//
// Functions are pure, values are immutable and safe for concurrent use. BSON from a
// cluster or a browser is not trusted: malformed input is a fault.Invalid error, never
// a panic, and memory use is linear in the input.
//
// The rules are those of MongoDB 5.0.7: bson/bsonelement.cpp (comparison),
// db/hasher.cpp (hash), s/shard_key_pattern.cpp (keys of documents).
package shardkey
