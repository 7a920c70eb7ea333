package alert

import "time"

// clockSlack is how far the clock may be set back without anybody noticing: time
// services do it by fractions of a second.
const clockSlack = time.Minute

// ahead tells that a time has not come yet: the clock was set back since. Nobody
// knows then how long ago it was. A silence that began then is over, and what
// was told then is told again: a message too many is better than none.
func ahead(t, now time.Time) bool { return t.After(now.Add(clockSlack)) }

// notAhead lets everything that an alert waits for begin now when it began at a
// time that has not come: otherwise a problem would be told of a day late. It
// tells whether there was such a time.
func (a *Alert) notAhead(now time.Time) (changed bool) {
	for _, t := range []*time.Time{&a.Since, &a.Missing, &a.Resolved} {
		if ahead(*t, now) {
			*t, changed = now, true
		}
	}
	return changed
}
