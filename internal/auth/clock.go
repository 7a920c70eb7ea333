package auth

import (
	"time"

	"shardboard/internal/clock"
)

// between reports whether now is between two times, the end excluded. When the clock
// was set back, the beginning is ahead: how long ago it was is not known, so whatever
// it allowed is over. Otherwise a session would last longer by as much.
func between(now, from, to time.Time) bool {
	return !clock.Ahead(from, now) && now.Before(to)
}
