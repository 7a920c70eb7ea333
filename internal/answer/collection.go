package answer

import (
	"hash/fnv"
	"strconv"

	"shardboard/internal/shardkey"
)

// chunkKey is a short name for a chunk within a page: a hash of its lower
// bound, which is its identity; opaque where bounds are hidden, for a plain hash
// can be compared with that of a guess.
func ChunkKey(p shardkey.Pattern, min shardkey.Key) string {
	if hiding := p.Hiding(); hiding != nil {
		return hiding.Name(min.Encoded())
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(min.Encoded())) // a hash does not fail
	return strconv.FormatUint(h.Sum64()>>16, 36)
}
