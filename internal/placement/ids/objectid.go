package ids

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
)

// OfObjectID decodes an ObjectID: 4 bytes of seconds, 5 random bytes of the process, 3 bytes of a
// counter with a random start. Before 2018 the random bytes were 3 bytes of a machine's hash and 2
// of a process id; a note gives that reading too, because an id does not show which layout it has.
// now is used to judge whether the time is plausible.
func OfObjectID(id bson.ObjectID, now time.Time) Anatomy {
	a := Anatomy{Kind: ObjectID, Text: id.Hex(), Ranged: LastChunk, Hashed: Even}
	seconds := binary.BigEndian.Uint32(id[:4])
	counter := uint64(id[9])<<16 | uint64(id[10])<<8 | uint64(id[11])
	a.part("seconds", strconv.FormatUint(uint64(seconds), 10), 0, 8)
	a.part("process", hex.EncodeToString(id[4:9]), 8, 18)
	a.part("counter", strconv.FormatUint(counter, 10), 18, 24)
	if id.IsZero() {
		// Yorkie's system actor and its default project.
		a.note("zero", "All zeroes: in Yorkie the system’s own actor and the default project. It was not generated.")
		a.Ranged = Undecided
		return a
	}
	a.made(time.Unix(int64(seconds), 0), now)
	a.note("oldLayout", "In the layout before 2018: machine {machine}, process {pid}. The id does not show which layout it has.",
		message.Words("machine", hex.EncodeToString(id[4:7])), message.Words("pid", strconv.Itoa(int(binary.BigEndian.Uint16(id[7:9])))))
	return a
}
