package alert

import (
	"time"

	"shardboard/internal/clock"
)

// resetAhead restarts everything an alert waits for if its start is in the future because the clock
// was set back; otherwise alerts could be up to a day late. It reports whether it changed anything.
func (a *Alert) resetAhead(now time.Time) (changed bool) {
	for _, t := range []*time.Time{&a.Since, &a.Missing, &a.Resolved} {
		if clock.Ahead(*t, now) {
			*t, changed = now, true
		}
	}
	return changed
}
