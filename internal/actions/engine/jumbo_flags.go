package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
)

// flagsTime limits the reading of jumbo flags, after which a plan is made without them.
const flagsTime = 5 * time.Second

// withFlags is the situation with the current jumbo flags of the chunks that a first
// draft depends on. The plan is then drafted again from it.
func (e *Engine) withFlags(ctx context.Context, s actions.Situation, of []actions.Span) actions.Situation {
	ctx, cancel := context.WithTimeout(ctx, flagsTime)
	defer cancel()
	at := now()
	reads, all := actions.FlagReads(s.Table, of)
	for _, r := range reads {
		rows, err := e.o.Reader.ChunksFromNow(ctx, r.C.Meta, r.From, r.Limit)
		if err != nil {
			e.o.Log.Warn("read the jumbo flags for a plan", "err", err)
			s.Flags.Reason = "unreachable"
			if fault.Of(err) == fault.Forbidden {
				s.Flags.Reason = "notPermitted"
			}
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
