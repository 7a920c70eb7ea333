package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
)

// flagsTimeout limits the reading of jumbo flags. After it a plan is made without
// them.
const flagsTimeout = 5 * time.Second

// withJumboFlags adds the current jumbo flags of the given chunks to the situation.
func (e *planning) withJumboFlags(ctx context.Context, s actions.Situation, of []actions.Span) actions.Situation {
	ctx, cancel := context.WithTimeout(ctx, flagsTimeout)
	defer cancel()
	at := e.now()
	reads, all := actions.FlagReads(s.Table, of)
	for _, r := range reads {
		rows, err := e.opts.Reader.ChunksFromNow(ctx, r.C.Meta, r.From, r.Limit)
		if err != nil {
			e.opts.Log.Warn("read the jumbo flags for a plan", "err", err)
			s.Flags.Reason = readFailureReason(err)
			return s
		}
		s.Table = s.Table.Reflagged(r.C.NS, rows)
	}
	if !all {
		s.Flags.Reason = "tooMany"
		return s
	}
	s.Flags.At = at
	return s
}
