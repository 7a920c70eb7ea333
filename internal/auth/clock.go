package auth

import "time"

// clockSlack is how far the clock may go backwards without ending sessions. Time services correct
// clocks by fractions of a second.
const clockSlack = time.Minute

// validAt reports whether now is in [from, to). It is false when now is before from, which happens
// only when the clock was set back: the real age is unknown then, and accepting it would lengthen a
// session by as much as the clock was moved.
func validAt(now, from, to time.Time) bool {
	return !now.Add(clockSlack).Before(from) && now.Before(to)
}
