package answer

import (
	"hash/fnv"
	"strconv"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ChunkRef is a chunk's reference. Where bounds are hidden there is none: it could be compared with
// that of a guess.
func ChunkRef(c *topology.Collection, min shardkey.Key) string {
	if c.Key.Hiding() != nil {
		return ""
	}
	return c.Ref(min)
}

// maxExactRef bounds an exact reference in an address, in bytes.
const maxExactRef = 300

// PlaceRef is a reference that means the place of its bound also when no chunk begins there any more; of a
// bound that is too long for an address it is ChunkRef.
func PlaceRef(c *topology.Collection, min shardkey.Key) string {
	short := ChunkRef(c, min)
	if exact, err := c.ExactRef(min); short != "" && err == nil && len(exact) <= maxExactRef {
		return exact
	}
	return short
}

// ChunkGone is the error for a reference of a chunk that is not there.
func ChunkGone(c *topology.Collection) error {
	return fault.New(fault.NotFound, "%s", "No chunk of "+string(c.NS)+" begins at this key any more.")
}

// UUIDText is "" for a collection that has none.
func UUIDText(u [16]byte) string {
	if u == [16]byte{} {
		return ""
	}
	return topology.Incarnation{UUID: u}.Identity()
}

// ChunkName is a short name for a chunk of any collection within a page, for
// a script to find what shows it.
func ChunkName(c *topology.Collection, min shardkey.Key) string {
	return nameOfBound(c.Key, string(c.NS)+"\x00"+min.Encoded())
}

// ChunkKey is a short name for a chunk within a page about one collection.
func ChunkKey(p shardkey.Pattern, min shardkey.Key) string { return nameOfBound(p, min.Encoded()) }

// nameOfBound is a hash of a chunk's lower bound, which is its identity. It is keyed where
// bounds are hidden, because a plain hash can be compared with that of a guess.
func nameOfBound(p shardkey.Pattern, bound string) string {
	if hiding := p.Hiding(); hiding != nil {
		return hiding.Name(bound)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(bound)) // a hash does not fail
	return strconv.FormatUint(h.Sum64()>>16, 36)
}

// WithinCollection is the part of a reference that names the chunk within its collection.
func WithinCollection(ref string) string {
	_, bound, _ := strings.Cut(ref, ".")
	return bound
}

// ChunksListed is how many chunks of one collection a project's page lists.
const ChunksListed = 20
