package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
)

// writesTimeout limits the reading of recent writes, which takes a few short reads
// in sequence. After it a plan is made without them.
const writesTimeout = 5 * time.Second

// withRecentWrites adds the recent writes to the given ranges to the situation.
func (e *planning) withRecentWrites(ctx context.Context, s actions.Situation, of []actions.Span) actions.Situation {
	if e.opts.Recent == nil {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, writesTimeout)
	defer cancel()
	s.Writes = e.opts.Recent.RecentWrites(ctx, s.Table, of)
	return s
}
