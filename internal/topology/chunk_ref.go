package topology

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
)

// Identity tells a collection from those that had its name before: its uuid, or its epoch in
// releases without uuids.
func (i Incarnation) Identity() string {
	if i.UUID == [16]byte{} {
		return i.Epoch.Hex()
	}
	h := hex.EncodeToString(i.UUID[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// boundHashLen is the length of a hashed bound in bytes.
const boundHashLen = 16

// hashBound is what a reference names a lower bound by: the beginning of its SHA-256, as a bound
// that an attacker chose must not lead to another chunk. Bounds that compare equal have the same.
// The fourth byte is not 0, which that of a BSON document below 16 MB is: ExactRef.
func hashBound(encoded string) (out [boundHashLen]byte) {
	sum := sha256.Sum256([]byte(encoded))
	copy(out[:], sum[:])
	out[3] |= 0x80
	return out
}

// Ref is the reference of the chunk with a lower bound, which changes of other chunks do not change:
// the collection's identity, a dot and the bound's hash. It is as long for a bound of a megabyte as
// for a number.
func (c *Collection) Ref(min shardkey.Key) string {
	h := hashBound(min.Encoded())
	return c.Incarnation.Identity() + "." + base64.RawURLEncoding.EncodeToString(h[:])
}

// ExactRef is a reference with the bound itself instead of its hash, so that it means the place of its
// bound also when no chunk begins there any more. All references were like this once, and are stored.
func (c *Collection) ExactRef(min shardkey.Key) (string, error) {
	doc, err := c.Key.Document(min)
	if err != nil {
		return "", err
	}
	return c.Incarnation.Identity() + "." + base64.RawURLEncoding.EncodeToString(doc), nil
}

// ByRef is the position of the chunk that a reference of either form names, and its lower bound. Where no
// chunk begins at the bound now, the position is -1, and the bound is zero unless the reference has it.
// The bound alone, without the collection's identity, is of the collection as it is.
// The error is fault.Invalid for what is no reference, fault.Conflict for one of another collection.
func (c *Collection) ByRef(ref string) (i int, min shardkey.Key, err error) {
	id, enc, whole := strings.Cut(ref, ".")
	if !whole {
		enc = ref
	}
	b, err := base64.RawURLEncoding.DecodeString(enc)
	hashed := len(b) == boundHashLen && b[3] != 0
	if err != nil || !hashed && bson.Raw(b).Validate() != nil {
		return -1, min, fault.New(fault.Invalid, "This is not a chunk reference.")
	}
	if whole && id != c.Incarnation.Identity() {
		return -1, min, fault.New(fault.Conflict, "The collection has been dropped or resharded since this "+
			"reference was made. Start again without it.")
	}
	if hashed {
		i = c.Chunks.findHash([boundHashLen]byte(b))
		if i >= 0 {
			min = c.Chunks.At(i).Min
		}
		return i, min, nil
	}
	if min, err = c.Key.Bound(b); err != nil {
		return -1, min, fault.Wrap(fault.Invalid, err, "This chunk reference does not have the fields of the shard key %s.", c.Key)
	}
	if at, ch := c.Chunks.Find(min); at >= 0 && ch.Min.Compare(min) == 0 {
		return at, min, nil
	}
	return -1, min, nil
}

// findHash is the position of the chunk whose lower bound has a hash, -1 if there is none. The beginnings
// of the hashes are kept with each bucket from the first search on: 8 bytes a chunk.
func (m *ChunkMap) findHash(h [boundHashLen]byte) int {
	if m == nil {
		return -1
	}
	begin := binary.LittleEndian.Uint64(h[:])
	for b, bucket := range m.buckets {
		for o, x := range bucket.hashBegins() {
			if x == begin && hashBound(bucket.encoded(o)) == h {
				return int(m.starts[b]) + o
			}
		}
	}
	return -1
}

// hashBegins are the first 8 bytes of the hash of every lower bound, made by whoever asks first.
func (b *bucket) hashBegins() []uint64 {
	if have := b.hashes.Load(); have != nil {
		return *have
	}
	out := make([]uint64, b.len())
	for i := range out {
		h := hashBound(b.encoded(i))
		out[i] = binary.LittleEndian.Uint64(h[:])
	}
	b.hashes.Store(&out)
	return out
}
