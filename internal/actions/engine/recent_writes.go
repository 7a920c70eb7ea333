package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
)

// writesTime limits the reading of recent writes (a few short reads, one after the
// other), after which a plan is made without them.
const writesTime = 5 * time.Second

// withWrites is the situation with the recent writes to the ranges that a first
// draft depends on. The plan is then drafted again from it.
func (e *Engine) withWrites(ctx context.Context, s actions.Situation, of []actions.Span) actions.Situation {
	if e.o.Recent == nil {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, writesTime)
	defer cancel()
	s.Writes = e.o.Recent.RecentWrites(ctx, s.Table, of)
	return s
}
