package alert

import "time"

// clockSlack is how far the clock may be set back without effect: time services do it
// by fractions of a second.
const clockSlack = time.Minute

// ahead tells that a time lies in the future: the clock was set back since, so it is
// not known how long ago it was. A silence that began then is over, and a message of
// then is sent again: one message too many is better than none.
func ahead(t, now time.Time) bool { return t.After(now.Add(clockSlack)) }

// limitToNow sets times of the alert that lie in the future to now. Otherwise, after
// the clock was set back, a problem would be sent as late as the clock was ahead. It
// returns true when there was such a time.
func (a *Alert) limitToNow(now time.Time) (changed bool) {
	for _, t := range []*time.Time{&a.Since, &a.Missing, &a.Resolved} {
		if ahead(*t, now) {
			*t, changed = now, true
		}
	}
	return changed
}
