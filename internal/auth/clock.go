package auth

import (
	"time"

	"shardboard/internal/clock"
)

// validAt reports whether now is in [from, to). It is false when from is ahead of now, which happens
// only when the clock was set back: the real age is unknown then, and accepting it would lengthen a
// session by as much as the clock was moved.
func validAt(now, from, to time.Time) bool {
	return !clock.Ahead(from, now) && now.Before(to)
}
