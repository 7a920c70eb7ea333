package history

import (
	"time"

	"shardboard/internal/topology"
)

const (
	// around is how far a migration and the balancer's round may be apart by the
	// clocks of the servers that wrote of them.
	around = 5 * time.Second
	// roundAfter is how long after a migration's last entry its round has been
	// logged at the latest.
	roundAfter = time.Minute
)

// byRounds tells of a migration that the settings allow the balancer whether it
// made it: it logs each round that moved something, when the round ends. Where
// the log does not reach, or not yet, nobody is named.
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
		if !i.At.Before(a.Time.Add(-a.Took-around)) && !i.At.After(a.Time.Add(around)) {
			return Cause{By: ByBalancer, Inferred: true, Basis: "rounds"}
		}
	}
	until := i.At.Add(roundAfter)
	switch {
	case !i.over.IsZero():
		until = i.over.Add(roundAfter)
	case i.Event == nil && i.Kind == "", i.Event != nil && i.Event.What == "moveChunk.start":
		until = i.At.Add(unclearAfter) // it has begun; when it ended is not known
	}
	switch {
	case i.At.Before(r.From):
		return Cause{By: ByUnknown, Basis: "roundsGone"}
	case r.To.Before(until.Add(slack)):
		return Cause{By: ByUnknown, Basis: "roundsOpen"}
	}
	return Cause{By: ByOther, Inferred: true, Basis: "noRound"}
}
