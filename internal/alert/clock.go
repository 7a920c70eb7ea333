package alert

import (
	"time"

	"shardboard/internal/clock"
)

// notAhead lets everything that an alert waits for begin now when it began at a
// time that has not come: otherwise a problem would be told of a day late. It
// tells whether there was such a time.
func (a *Alert) notAhead(now time.Time) (changed bool) {
	for _, t := range []*time.Time{&a.Since, &a.Missing, &a.Resolved} {
		if clock.Ahead(*t, now) {
			*t, changed = now, true
		}
	}
	return changed
}
