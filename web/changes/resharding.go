package changes

import (
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/api"
)

// background is the step of the run whose operation may be running in the cluster by itself:
// a resharding, or the move or unsharding of a collection, which are built on it.
func (m region) background() (s engine.Step, runs bool) {
	i := slices.IndexFunc(m.whole.Steps, func(s engine.Step) bool {
		return s.Effects().InBackground && !s.Effects().EndsAnother && !s.Sent.IsZero() && s.State.Open()
	})
	if i < 0 {
		return s, false
	}
	return m.whole.Steps[i], true
}

// abortOf is the kind of change that aborts the operation of a step, and what Stop does not end.
func abortOf(s engine.Step) (abort actions.Kind, what string) {
	switch s.Op {
	case operation.OpMoveCollection:
		return actions.MoveCollectionAbort, "move of a collection"
	case operation.OpUnshard:
		return actions.UnshardAbort, "unsharding"
	}
	return actions.ReshardAbort, "resharding"
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
