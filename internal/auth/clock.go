package auth

import "time"

// clockSlack is how far the clock may be set back without anybody noticing: time
// services do it by fractions of a second.
const clockSlack = time.Minute

// between tells whether a time is between two, the end excluded. Before the
// beginning it is only when the clock was set back. Nobody knows then how long
// ago the beginning was, so whatever it allowed is over: otherwise a session
// would last as much longer as the clock was set back.
func between(now, from, to time.Time) bool {
	return !now.Add(clockSlack).Before(from) && now.Before(to)
}
