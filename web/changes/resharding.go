package changes

import (
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
)

// reshards tells whether a resharding may be running because of this run.
func (m region) reshards() bool { return m.reshardedNS() != "" }

// reshardedNS is the collection that the run reshards; "" if it does not.
func (m region) reshardedNS() string {
	i := slices.IndexFunc(m.whole.Steps, func(s engine.Step) bool { return s.Op == actions.OpReshard && !s.Sent.IsZero() && s.State.Open() })
	if i < 0 {
		return ""
	}
	return string(m.whole.Steps[i].NS)
}

// stateOrNone is the server's state of a shard's part.
func stateOrNone(state string) string {
	if state == "" {
		return "no part"
	}
	return state
}

// reshardingNow is the time with which the age of the progress is compared: of a step that
// has ended, its age says nothing.
func reshardingNow(r region, s api.RunStep) time.Time {
	if s.EndedAt != nil {
		return time.Time{}
	}
	return r.v.Now
}
