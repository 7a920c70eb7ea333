package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// errShort means that a stored body ends in the middle of a value.
var errShort = errors.New("stored chunks end too soon")

// Flags of a row.
const (
	flagJumbo  = 1 << iota
	flagJoined // the row begins where the one before it ends, so its lower bound is omitted
)

// encodeChunks writes rows in key order: the names of the shards once, then flags, bounds, shard,
// version and since of each row. A full map takes about 20 bytes a chunk before compression.
func encodeChunks(rows []topology.Chunk) []byte {
	var names []string
	for _, c := range rows {
		if !slices.Contains(names, c.Shard) {
			names = append(names, c.Shard)
		}
	}
	out := binary.AppendUvarint(nil, uint64(len(names)))
	for _, n := range names {
		out = appendText(out, n)
	}
	out = binary.AppendUvarint(out, uint64(len(rows)))
	for i, c := range rows {
		out = appendChunk(out, c, i > 0 && rows[i-1].Max == c.Min, slices.Index(names, c.Shard))
	}
	return out
}

// appendChunk appends a row; joined: it begins where the row before it ends.
func appendChunk(out []byte, c topology.Chunk, joined bool, shard int) []byte {
	var flags byte
	if c.Jumbo {
		flags |= flagJumbo
	}
	if joined {
		flags |= flagJoined
	}
	out = append(out, flags)
	if !joined {
		out = appendKey(out, c.Min)
	}
	out = appendKey(out, c.Max)
	out = binary.AppendUvarint(out, uint64(shard))
	for _, n := range []uint32{c.Version.Major, c.Version.Minor, c.Since.T, c.Since.I} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	return out
}

func appendText(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

func appendKey(out []byte, k shardkey.Key) []byte {
	return appendText(appendText(out, k.Encoded()), k.Bits())
}

// decodeChunks reads what encodeChunks wrote.
func decodeChunks(b []byte) ([]topology.Chunk, error) {
	r := reader{rest: b}
	names := make([]string, r.count())
	for i := range names {
		names[i] = r.text()
	}
	rows := make([]topology.Chunk, r.count())
	for i := range rows {
		flags := r.byte()
		c := topology.Chunk{Jumbo: flags&flagJumbo != 0}
		switch {
		case flags&flagJoined == 0:
			c.Min = r.key()
		case i > 0:
			c.Min = rows[i-1].Max
		}
		c.Max = r.key()
		shard := r.number()
		if shard >= uint64(len(names)) {
			return nil, fmt.Errorf("decode chunks: %w", errShort)
		}
		c.Shard = names[shard]
		c.Version = topology.Version{Major: uint32(r.number()), Minor: uint32(r.number())}
		c.Since = bson.Timestamp{T: uint32(r.number()), I: uint32(r.number())}
		rows[i] = c
	}
	if r.bad {
		return nil, fmt.Errorf("decode chunks: %w", errShort)
	}
	return rows, nil
}

// reader decodes values from a body; after the first missing value all are zero.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count is the number of values that follow, which take at least a byte each.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) text() string {
	n := r.count()
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *reader) key() shardkey.Key { return shardkey.FromParts(r.text(), r.text()) }
