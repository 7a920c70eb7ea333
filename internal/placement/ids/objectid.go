package ids

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// OfObjectID takes an ObjectID apart: 4 bytes of seconds, 5 random bytes of
// the process that made it, 3 bytes of a counter that begins at random. Makers
// before 2018 wrote 3 bytes of a machine's hash and 2 of a process id where
// the random bytes are now: a remark gives that reading, as nothing in an id
// tells which is meant. now judges whether the time can be true.
func OfObjectID(id bson.ObjectID, now time.Time) Anatomy {
	a := Anatomy{Kind: ObjectID, Text: id.Hex(), Ranged: LastChunk, Hashed: Even}
	seconds := binary.BigEndian.Uint32(id[:4])
	counter := uint64(id[9])<<16 | uint64(id[10])<<8 | uint64(id[11])
	a.part("seconds", strconv.FormatUint(uint64(seconds), 10), 0, 8)
	a.part("process", hex.EncodeToString(id[4:9]), 8, 18)
	a.part("counter", strconv.FormatUint(counter, 10), 18, 24)
	if id.IsZero() {
		// Yorkie's system actor and its default project.
		a.note("zero")
		a.Ranged = Undecided
		return a
	}
	a.made(time.Unix(int64(seconds), 0), now)
	a.note("oldLayout", "machine", hex.EncodeToString(id[4:7]), "pid", strconv.Itoa(int(binary.BigEndian.Uint16(id[7:9]))))
	return a
}
