package engine

import (
	"context"
	"errors"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
)

// Time limits of commands. There is no useful limit for a command that copies data,
// because the server continues with it in any case.
const (
	commandTimeout     = 30 * time.Second
	balancerOffTimeout = 10 * time.Minute    // switching it off waits for the end of its round
	refineTimeout      = 45 * time.Second    // rewrites all chunks in one transaction, which the server ends after a minute
	migrationTimeout   = 12 * time.Hour      // the longest
	unsizedMoveTimeout = time.Hour           // when the size is not known
	reshardTimeout     = 20 * 24 * time.Hour // the operation continues after it; maxTimeMS ends at 24 days
	readTimeout        = 10 * time.Second    // for one fact
)

// timeoutOf is the time limit of a step's command.
func timeoutOf(s actions.Step) time.Duration {
	switch {
	case s.Op == actions.OpBalancerOff:
		return balancerOffTimeout
	case s.Op == actions.OpRefineKey:
		return refineTimeout
	case s.InBackground() && !s.EndsAnother():
		return reshardTimeout
	case s.Copies():
		return migrationTimeout
	}
	return commandTimeout
}

// moveLimit is the limit of a migration whose copying is estimated to take some time: at least so long, and so many
// times the estimate for other load. An estimate from an assumed rate needs more.
type moveLimit struct {
	least  time.Duration
	factor int64
}

var (
	measuredMoveLimit = moveLimit{2 * time.Minute, 4}
	assumedMoveLimit  = moveLimit{5 * time.Minute, 10}
)

// of is the limit for an estimate.
func (l moveLimit) of(took time.Duration) time.Duration {
	return min(l.least+time.Duration(l.factor)*min(took, migrationTimeout), migrationTimeout)
}

// timeLimit is the time limit of a step's command; of a migration, one that fits its bytes and the rate of the
// cluster's recent moves. It does not stop a migration that copies: the outcome is then read. It ends one that hangs,
// as 8.0.10 does with a range that crosses a chunk's bound.
func (x *execution) timeLimit(s actions.Step) time.Duration {
	if !s.Migrates() {
		return timeoutOf(s)
	}
	took, measured, known := actions.MoveTime(x.e.knownSituation(x.e.opts.Tables.Table(), nil), s)
	switch {
	case !known:
		return unsizedMoveTimeout
	case measured:
		return measuredMoveLimit.of(took)
	}
	return assumedMoveLimit.of(took)
}

// send sends the command of a step, once, unless the lead is lost before it leaves.
func (x *execution) send(i int, s actions.Step) error {
	ctx, cancel := context.WithTimeout(x.ctx, x.timeLimit(s))
	ctx = actions.CheckBeforeSending(ctx, x.stillLeads)
	if s.Copies() {
		defer x.followProgress(i, s)()
	}
	if s.Migrates() && s.Wait {
		return x.sendAndWait(ctx, cancel, i, s)
	}
	defer cancel()
	return s.Send(ctx, x.e.opts.Admin, x.id)
}

// answer is what is known about a command after it was sent.
type answer int

const (
	acknowledged answer = iota // the server said that the command is done
	refused                    // the server refused the command, or it never left
	noAnswer                   // whether the command had an effect is unknown
	committed                  // its effect was read, and it still waits for a deletion
)

// classifyAnswer treats a command as refused only for errors which guarantee that
// nothing changed.
func classifyAnswer(err error) answer {
	var e *fault.Error
	if err == nil {
		return acknowledged
	}
	if errors.Is(err, errDeletes) {
		return committed
	}
	if errors.As(err, &e) {
		switch e.Kind {
		case fault.Invalid, fault.NotFound, fault.Conflict, fault.Forbidden, fault.Unavailable:
			return refused
		}
	}
	return noAnswer
}
