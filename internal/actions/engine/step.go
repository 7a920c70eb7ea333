package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// How long a command may take. A migration has no useful limit: the server goes
// on with it in any case.
const (
	commandTime  = 30 * time.Second
	balancerTime = 10 * time.Minute // to turn it off waits for its round
	moveTime     = 12 * time.Hour
	readTime     = 10 * time.Second // of one fact
)

// limitOf is the time limit that goes with a step's command.
func limitOf(s actions.Step) time.Duration {
	switch {
	case s.Migrates():
		return moveTime
	case s.Op == actions.OpBalancerOff:
		return balancerTime
	}
	return commandTime
}

// step runs one step to an end that is on disk. False when the run has ended
// here, or the process does.
func (x *execution) step(i int) bool {
	s := x.now().Steps[i]
	if !s.Sends() {
		return x.await(i)
	}
	if !x.foresee(i) {
		return false
	}
	if try, ok := x.waitOut(i); !try {
		return ok
	}
	if keys := shardKeysOf(s.Step); keys != nil {
		t := x.e.locks.request(x.id, keys)
		defer t.release()
		if !x.wait(t) {
			return false
		}
	}
	if proof, held := x.held(s); held {
		return x.already(i, proof)
	}
	if err := x.intend(i); err != nil {
		return x.finish(i, noIntent(err))
	}
	if x.stopping() { // asked for while the intent was written
		return x.halted(i)
	}
	readings, different, err := x.needs(s.Step)
	switch {
	case x.e.life.Err() != nil:
		return false
	case err != nil:
		return x.finish(i, unread(readings, err))
	case len(different) > 0:
		if proof, held := x.held(s); held {
			return x.already(i, proof) // in this moment
		}
		if x.now().adapts() {
			return x.adapt(i, readings, different)
		}
		return x.finish(i, otherwise(readings, different))
	case x.stopping():
		return x.halted(i)
	}
	// Reading has taken a while. An intent that went with its directory is none.
	if err := x.e.o.Journal.Writable(); err != nil {
		return x.finish(i, noIntent(err))
	}
	// From here on no disk and no question comes before the command.
	err = x.send(i, s.Step)
	if x.e.life.Err() != nil && fault.Of(err) == fault.UnknownOutcome {
		return false // given up by us: the next process settles it
	}
	x.show(func(r *Run) { r.Steps[i].Before = readings })
	return x.settle(i, answerOf(err), err)
}

// noIntent is the end of a step whose intent could not be saved.
func noIntent(err error) func(*Step) {
	return func(s *Step) {
		s.State, s.Why = Failed, message.New("step.noIntent",
			"The intent to send the command could not be saved, so nothing was sent.")
		s.failedBy(err)
	}
}

// unread is the end of a step of which not all that it needs could be read.
func unread(readings []Reading, err error) func(*Step) {
	return func(s *Step) {
		s.State, s.Before, s.Why = Refused, readings, stepUnread
		s.failedBy(err)
	}
}

// otherwise is the end of a step that needs the cluster to be as it is not.
func otherwise(readings []Reading, different []actions.Difference) func(*Step) {
	return func(s *Step) {
		s.State, s.Changed, s.Before, s.Why = Refused, different, readings, stepChanged
	}
}

// intend puts it on disk that the step's command is about to leave, and then
// the run's new state.
func (x *execution) intend(i int) error {
	s := x.now().Steps[i]
	at := now()
	ctx, cancel := context.WithTimeout(x.e.life, saveTime)
	defer cancel()
	err := x.e.o.Journal.AddIntent(ctx, store.IntentRecord{Run: x.id, Step: i, At: at, DB: s.Command.DB, Command: s.Command.Doc})
	if err != nil {
		return fmt.Errorf("write intent: %w", err)
	}
	return x.save(x.e.life, func(r *Run) {
		r.State, r.Why = Running, message.Message{}
		r.Steps[i].State, r.Steps[i].Sent = Running, at
	})
}

// needs reads what a step needs and compares. An error means that not all could
// be read: then nothing is known to fit.
func (x *execution) needs(s actions.Step) (readings []Reading, different []actions.Difference, err error) {
	return x.e.read(x.e.life, s.Needs)
}

// read reads facts and says in what they are not as wanted.
func (e *Engine) read(ctx context.Context, facts []actions.Fact) (readings []Reading, different []actions.Difference, err error) {
	for _, f := range facts {
		ctx, cancel := context.WithTimeout(ctx, readTime)
		got, err := e.o.Reader.ReadFact(ctx, f)
		cancel()
		if err != nil {
			return readings, different, err
		}
		readings = append(readings, Reading{Fact: f, Got: got, At: now()})
		different = append(different, f.Against(got)...)
	}
	return readings, different, e.sameCluster(ctx)
}

// sameCluster is an error when another cluster answers at the address than the
// one that is followed. Asked after facts were read: they are of no other then.
func (e *Engine) sameCluster(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	id, err := e.o.Reader.ClusterID(ctx)
	if known := e.cluster(); err == nil && id != "" && known != "" && id != known {
		err = fault.New(
			fault.Unavailable,
			"Another cluster (%s) answers at this address now, and not %s: nothing can be read of that one.",
			id,
			known,
		)
	}
	return err
}

// send sends the command, once.
func (x *execution) send(i int, s actions.Step) error {
	ctx, cancel := context.WithTimeout(x.e.life, limitOf(s))
	defer cancel()
	if s.Migrates() {
		defer x.follow(i, s)()
	}
	return s.Send(ctx, x.e.o.Admin, x.id)
}

// answer is what is known of a command after it was sent.
type answer int

const (
	done    answer = iota // the server said that it is done
	refused               // the server said that it is not, or it never left
	silence               // nobody knows
)

// answerOf trusts only errors that promise that nothing changed.
func answerOf(err error) answer {
	var e *fault.Error
	if err == nil {
		return done
	}
	if errors.As(err, &e) {
		switch e.Kind {
		case fault.Invalid, fault.NotFound, fault.Conflict, fault.Forbidden, fault.Unavailable:
			return refused
		}
	}
	return silence
}

// halted ends a step that somebody stopped before its command.
func (x *execution) halted(i int) bool {
	why := x.stoppedBy()
	return x.finish(i, func(s *Step) { s.State, s.Why = Stopped, why })
}

// stepDetails are what the audit record has of a step.
func stepDetails(i int, s Step) map[string]string {
	details := map[string]string{"step": fmt.Sprint(i), "op": string(s.Op), "state": string(s.State)}
	if s.Why.Code != "" {
		details["why"] = s.Why.Code
	}
	if s.Error != "" {
		details["text"] = s.Error
	}
	return details
}

// finish ends a step: in the audit record, then on disk. A crash in between
// records it again.
func (x *execution) finish(i int, change func(*Step)) bool {
	at := now()
	s := x.now().Steps[i]
	change(&s)
	if !x.recorded(auditRunStep, outcomeOf(s.State), stepDetails(i, s)) {
		return false
	}
	ok := x.keep(func(r *Run) {
		s := &r.Steps[i]
		change(s)
		s.Ended = at
		r.State, r.Why = Running, message.Message{}
	})
	if ok {
		x.e.cleanups.add(x.now().Steps[i])
	}
	return ok
}
