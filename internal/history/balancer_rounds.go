package history

import (
	"time"

	"shardboard/internal/topology"
)

const (
	// around is the largest assumed clock difference between the servers that logged a migration
	// and the balancer's round.
	clockTolerance = 5 * time.Second
	// roundAfter is how long after a migration's last entry its round is logged at the latest.
	roundAfter = time.Minute
)

// byRounds decides whether the balancer made a migration that its settings allow: it logs each
// round that moved something, when the round ends. Where the log does not reach back far enough, or
// is not complete yet, the cause is unknown.
func byRounds(i Item, r topology.Rounds) Cause {
	switch {
	case r.Denied:
		return Cause{By: ByUnknown, Basis: "roundsDenied"}
	case r.From.IsZero():
		return Cause{By: ByUnknown, Basis: "roundsUnread"}
	}
	for _, a := range r.Actions {
		if a.What != "balancer.round" || a.Moved == 0 && !(a.Failed && i.Failed) {
			continue
		}
		if !i.At.Before(a.Time.Add(-a.Took-clockTolerance)) && !i.At.After(a.Time.Add(clockTolerance)) {
			return Cause{By: ByBalancer, Inferred: true, Basis: "rounds"}
		}
	}
	until := i.At.Add(roundAfter)
	switch {
	case !i.end.IsZero():
		until = i.end.Add(roundAfter)
	case i.Event == nil && i.Kind == "", i.Event != nil && i.Event.What == "moveChunk.start":
		until = i.At.Add(unclearAfter) // only the begin is known
	}
	switch {
	case i.At.Before(r.From):
		return Cause{By: ByUnknown, Basis: "roundsGone"}
	case r.To.Before(until.Add(maxClockSkew)):
		return Cause{By: ByUnknown, Basis: "roundsOpen"}
	}
	return Cause{By: ByOther, Inferred: true, Basis: "noRound"}
}
