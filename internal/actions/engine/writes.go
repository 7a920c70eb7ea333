package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
)

// writesTime is what asking for recent writes may take before a plan is made
// without: a few short reads, one after the other.
const writesTime = 5 * time.Second

// withWrites is the situation with the recent writes to ranges that a first draft
// of it depends on: the draft made of that is the plan's.
func (e *Engine) withWrites(ctx context.Context, s actions.Situation, of []actions.Span) actions.Situation {
	if e.o.Recent == nil {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, writesTime)
	defer cancel()
	s.Writes = e.o.Recent.RecentWrites(ctx, s.Table, of)
	return s
}
