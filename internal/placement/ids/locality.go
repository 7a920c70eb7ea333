package ids

import (
	"encoding/hex"
	"strconv"
	"time"

	"shardboard/internal/localityid"
	"shardboard/internal/message"
)

// locality decodes a locality UUID. Package localityid describes the format and the two modes of its makers.
func locality(a *Anatomy, u UUID, now time.Time) {
	id := localityid.ID(u)
	f := id.Fields()
	a.Kind, a.Ranged = UUIDLocality, OneOf
	if window, n, ok := id.SequentialSince(); ok {
		a.Ranged = Windowed
		a.part("counter", strconv.FormatUint(uint64(f.Counter), 10), 0, 8)
		a.note("sequential", "Sequential mode: number {n} after the start that the window of {window} UTC gives.",
			message.Words("window", window.Format("2006-01-02 15:04")), message.Words("n", strconv.Itoa(n)))
	} else {
		a.part("counterReversed", strconv.FormatUint(uint64(localityid.Reversed(f.Counter)), 10), 0, 8)
		a.note("modeUnknown", "Read as the default mode, in which the counter takes large odd steps and is written reversed. "+
			"In sequential mode it would be {inOrder}, written in order.",
			message.Words("inOrder", strconv.FormatUint(uint64(f.Counter), 10)))
	}
	a.part("processId", strconv.Itoa(int(f.Process)), 8, 12)
	a.part("literal", "b", 12, 13)
	digits := hex.EncodeToString(u[6:10])[1:]
	a.part("macFragment", digits[:1]+":"+colons(digits[1:]), 13, 20)
	a.part("milliseconds", strconv.FormatInt(f.Milliseconds, 10), 20, 32)
	a.made(id.Time(), now)
}
