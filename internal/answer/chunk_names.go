package answer

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"strconv"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// ChunkRef is uuid.base64url(BSON of min). Collections of MongoDB 4.4 that
// have no uuid stand under their epoch. Where bounds are hidden there is none: it
// holds the lower bound.
func ChunkRef(c *topology.Collection, min shardkey.Key) string {
	if c.Key.Hiding() != nil {
		return ""
	}
	doc, err := c.Key.Document(min)
	if err != nil {
		return ""
	}
	return api.ChunkRef(IdentityOf(c), doc)
}

// IdentityOf is a collection's uuid, or its epoch in releases without uuids.
func IdentityOf(c *topology.Collection) string {
	return cmp.Or(uuidOf(c.Incarnation.UUID), c.Incarnation.Epoch.Hex())
}

// uuidOf is "" for a collection that has none.
func uuidOf(u [16]byte) string {
	if u == [16]byte{} {
		return ""
	}
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseChunkRef finds the lower bound that a reference names.
func ParseChunkRef(c *topology.Collection, ref string) (shardkey.Key, error) {
	id, doc, err := api.ParseChunkRef(ref)
	if err != nil {
		return shardkey.Key{}, err
	}
	if id != IdentityOf(c) {
		return shardkey.Key{}, fault.New(fault.Conflict, "The collection has been dropped or resharded since this "+
			"reference was made. Start again without it.")
	}
	k, err := c.Key.Bound(doc)
	if err != nil {
		return shardkey.Key{}, fault.Wrap(fault.Invalid, err, "This chunk reference does not have the fields of the shard key %s.", c.Key)
	}
	return k, nil
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
