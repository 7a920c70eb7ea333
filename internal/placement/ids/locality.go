package ids

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strconv"
	"time"

	"shardboard/internal/message"
)

// Locality UUIDs are wwwwwwww-xxxx-byyy-yyyy-zzzzzzzzzzzz: a counter, a process id, a literal b, 28
// bits of a MAC address, milliseconds. Their generator has two modes. By default the counter grows
// by a large odd step and its hex digits are reversed, so that successive ids differ in their first
// bytes. In sequential mode it grows by one and starts at a hash of the date and time truncated to
// ten minutes, so that generators that start together write to the same range.
const (
	localityWindow  = 10 * time.Minute
	localityWindows = 144    // windows searched: one day
	localityFirst   = 10_000 // ids after the window's start that count as sequential
)

// localityTime reports whether the last 48 bits are a plausible time: besides the b, the only sign
// of a locality UUID. The format dates from 2012.
func localityTime(u UUID, now time.Time) bool {
	at := time.UnixMilli(milliseconds(u[10:])).UTC()
	return at.Year() >= 2012 && at.Before(now.Add(24*time.Hour))
}

func locality(a *Anatomy, u UUID, now time.Time) {
	a.Kind, a.Ranged = UUIDLocality, OneOf
	written := binary.BigEndian.Uint32(u[:4])
	at := time.UnixMilli(milliseconds(u[10:]))
	if window, n, ok := sequentialSince(written, at); ok {
		a.Ranged = Windowed
		a.part("counter", strconv.FormatUint(uint64(written), 10), 0, 8)
		a.note("sequential", "Sequential mode: number {n} after the start that the window of {window} UTC gives.",
			message.Words("window", window.Format("2006-01-02 15:04")), message.Words("n", strconv.Itoa(n)))
	} else {
		a.part("counterReversed", strconv.FormatUint(uint64(reverseDigits(written)), 10), 0, 8)
		a.note("modeUnknown", "Read as the default mode, in which the counter takes large odd steps and is written reversed. "+
			"In sequential mode it would be {inOrder}, written in order.",
			message.Words("inOrder", strconv.FormatUint(uint64(written), 10)))
	}
	a.part("processId", strconv.Itoa(int(binary.BigEndian.Uint16(u[4:]))), 8, 12)
	a.part("literal", "b", 12, 13)
	digits := hex.EncodeToString(u[6:10])[1:]
	a.part("macFragment", digits[:1]+":"+colons(digits[1:]), 13, 20)
	a.part("milliseconds", strconv.FormatInt(at.UnixMilli(), 10), 20, 32)
	a.made(at, now)
}

// reverseDigits reverses a counter's hex digits.
func reverseDigits(n uint32) uint32 {
	n = bits.ReverseBytes32(n)
	return n>>4&0x0f0f0f0f | n<<4&0xf0f0f0f0
}

// sequentialSince finds the ten-minute window whose hash is shortly before the counter. The chance
// that a counter of the default mode matches is 144 × 10,000 in 2³².
func sequentialSince(counter uint32, at time.Time) (window time.Time, n int, ok bool) {
	window = at.UTC().Truncate(localityWindow)
	for range localityWindows {
		if d := counter - windowStart(window); d <= localityFirst {
			return window, int(d), true
		}
		window = window.Add(-localityWindow)
	}
	return time.Time{}, 0, false
}

// windowStart is a window's first counter: the first four bytes, little-endian, of the MD5 of its
// date and time up to the first digit of the minute.
func windowStart(window time.Time) uint32 {
	sum := md5.Sum([]byte(window.UTC().Format("200601021504")[:11]))
	return binary.LittleEndian.Uint32(sum[:])
}
