package localityid

import (
	"crypto/md5"
	"encoding/binary"
	"time"
)

// Window is the time that shares one start of the counter in sequential mode.
const Window = 10 * time.Minute

const (
	windowsSearched = 144    // by SequentialSince: one day
	firstIDs        = 10_000 // ids after a window's start that count as sequential
)

// WindowStart is the counter that the ids of a window follow: the first four bytes, the lowest first, of the MD5 of its
// date and time up to the first digit of the minute, such as 20130428010. The published example confirms it: its
// first id is the second number after the start of its window.
func WindowStart(at time.Time) uint32 {
	sum := md5.Sum([]byte(at.UTC().Format("200601021504")[:11]))
	return binary.LittleEndian.Uint32(sum[:])
}

// SequentialSince finds the window whose start is shortly before an id's counter: that of its time, or one of the day
// before it, since published makers take a start only once. n is how far the counter has come. A counter of the
// default mode matches with a chance of 144 × 10,000 in 2³².
func (id ID) SequentialSince() (window time.Time, n int, ok bool) {
	counter := id.Fields().Counter
	window = id.Time().Truncate(Window)
	for range windowsSearched {
		if d := counter - WindowStart(window); d <= firstIDs {
			return window, int(d), true
		}
		window = window.Add(-Window)
	}
	return time.Time{}, 0, false
}
