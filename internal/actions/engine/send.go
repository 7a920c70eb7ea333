package engine

import (
	"context"
	"errors"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
)

const (
	unsizedMoveTimeout = time.Hour        // of a migration whose size is not known
	readTimeout        = 10 * time.Second // for one fact
)

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
	return min(l.least+time.Duration(l.factor)*min(took, operation.MigrationTimeout), operation.MigrationTimeout)
}

// timeLimit is the time limit of a step's command; of a migration, one that fits its bytes and the rate of the
// cluster's recent moves. It does not stop a migration that copies: the outcome is then read. It ends one that hangs,
// as 8.0.10 does with a range that crosses a chunk's bound.
func (x *execution) timeLimit(s operation.Step) time.Duration {
	if !s.Migrates() {
		return s.TimeLimit()
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

// send sends the command of a step, once, unless the lead is lost before it leaves. It is the command of the
// intent, which
// was made for the release that the cluster had then: a later one takes it, or refuses it.
func (x *execution) send(i int, s operation.Step, c operation.Command) error {
	ctx, cancel := context.WithTimeout(x.ctx, x.timeLimit(s))
	ctx = operation.CheckBeforeSending(ctx, x.stillLeads)
	if s.Copies() {
		defer x.followProgress(i, s)()
	}
	if s.Migrates() && s.Wait {
		return x.sendAndWait(ctx, cancel, i, s, c)
	}
	defer cancel()
	return s.Send(ctx, x.e.opts.Admin, x.id, c)
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
