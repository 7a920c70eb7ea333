package answer

import (
	"encoding/hex"

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

func IdentityOf(c *topology.Collection) string {
	if c.Incarnation.UUID == [16]byte{} {
		return c.Incarnation.Epoch.Hex()
	}
	return uuidOf(c.Incarnation.UUID)
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
