package alert

import (
	"time"

	"shardboard/internal/clock"
)

// limitToNow sets times of the alert that lie in the future to now. Otherwise, after
// the clock was set back, a problem would be sent as late as the clock was ahead. It
// returns true when there was such a time.
func (a *Alert) limitToNow(now time.Time) (changed bool) {
	for _, t := range []*time.Time{&a.Since, &a.Missing, &a.Resolved} {
		if clock.Ahead(*t, now) {
			*t, changed = now, true
		}
	}
	return changed
}
