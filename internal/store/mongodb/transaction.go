package mongodb

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const (
	firstRetry = 2 * time.Millisecond
	lastRetry  = 200 * time.Millisecond
	abortWait  = time.Second // the server ends an abandoned transaction itself
	longest    = 50 * time.Second

	commitTries = 4 // in the time of a transaction
)

// change runs f in a transaction: all of it is stored, or nothing. f may run several times, because
// transactions of replicas that write the same document are repeated.
//
// Transactions of one process run one after the other, so they never conflict with each other.
// mongo.Session.WithTransaction is not used: it ignores the deadline of the context while it commits,
// and does not tell a commit whose outcome is unknown from one that failed.
//
// With the context of Lead it is a change of the leader.
func (db *DB) change(ctx context.Context, f func(ctx context.Context) error) error {
	if _, leader := termOf(ctx); leader {
		return db.lead(ctx, f)
	}
	return db.changeWithin(ctx, db.o.Timeout, f)
}

// lead is change for what only the leader may do. Its last write is to the fence, a document that
// every new leader changes: if this process lost the lease, even while it was paused in the middle of
// the transaction, the write finds no document or conflicts, and nothing is stored. It comes last, so
// that a process that is killed seldom leaves the fence locked.
func (db *DB) lead(ctx context.Context, f func(ctx context.Context) error) error {
	return db.leadWithin(ctx, db.o.Timeout, f)
}

// timeFor is the time limit of a transaction that stores large bodies: a majority has to write them to
// disk. It stays below the time after which the server ends a transaction.
func (db *DB) timeFor(bodies int) time.Duration {
	const perSecond = 8 << 20
	return min(db.o.Timeout+time.Duration(bodies/perSecond)*time.Second, max(longest, db.o.Timeout))
}

func (db *DB) leadWithin(ctx context.Context, limit time.Duration, f func(ctx context.Context) error) error {
	token, leads := db.lease.token()
	if term, of := termOf(ctx); !leads || of && term != token {
		return store.ErrNotLeading
	}
	err := db.changeWithin(ctx, limit, func(ctx context.Context) error {
		if err := f(ctx); err != nil {
			return err
		}
		done, err := db.collection(leadership).UpdateOne(ctx,
			bson.D{{Key: "_id", Value: fenceID}, {Key: "token", Value: token}},
			bson.D{{Key: "$inc", Value: bson.D{{Key: "writes", Value: int64(1)}}}})
		if err == nil && done.MatchedCount == 0 {
			err = store.ErrNotLeading
		}
		return err
	})
	if errors.Is(err, store.ErrNotLeading) {
		db.lease.lose(token)
	}
	return err
}

// ConfirmLead writes the fence.
func (db *DB) ConfirmLead(ctx context.Context) error {
	return db.lead(ctx, func(context.Context) error { return nil })
}

func (db *DB) changeWithin(ctx context.Context, limit time.Duration, f func(ctx context.Context) error) error {
	if err := db.state.down(db.o.Timeout); err != nil {
		return err
	}
	return db.transact(ctx, limit, f)
}

// transact is changeWithin also while the store is known not to answer.
func (db *DB) transact(ctx context.Context, limit time.Duration, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case db.writeLock <- struct{}{}:
	case <-ctx.Done():
		return db.failed(ctx, ctx.Err())
	}
	defer func() { <-db.writeLock }()
	if err := db.state.refused(); err != nil {
		return err
	}
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		again, err := db.attempt(ctx, limit, f)
		if err == nil {
			db.state.worked()
			return nil
		}
		if !again || ctx.Err() != nil {
			return db.failed(ctx, err)
		}
		select { // at random, so that replicas in each other's way do not stay there
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
			return db.failed(ctx, err)
		}
	}
}

// attempt runs a transaction once. again means that it had no effect and may succeed if repeated.
func (db *DB) attempt(ctx context.Context, limit time.Duration, f func(ctx context.Context) error) (again bool, err error) {
	if err := db.settle(ctx, limit); err != nil {
		return false, err
	}
	s, err := db.writingSession(ctx)
	if err != nil {
		return false, err
	}
	if err := s.StartTransaction(options.Transaction().SetReadConcern(readconcern.Snapshot()).
		SetWriteConcern(writeconcern.Majority())); err != nil {
		db.discardSession(ctx) // something left it in a state in which it would refuse every further transaction
		return true, err
	}
	db.written.begin()
	err = f(mongo.NewSessionContext(ctx, s))
	if err == nil {
		err = ctx.Err() // before the commit is sent, so that a caller who left knows that nothing happened
	}
	if err != nil {
		aborting, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortWait)
		defer cancel()
		_ = s.AbortTransaction(aborting) // an open one ends with the next of this session
		return labelled(err, "TransientTransactionError"), err
	}
	return db.commit(ctx, limit, s)
}

// commit sends the commit until its outcome is known. It goes on when the caller has left, because
// what was sent cannot be taken back. If the outcome does not get known, the next transaction looks it
// up before it begins.
func (db *DB) commit(ctx context.Context, limit time.Duration, s *mongo.Session) (again bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	known, again, err := db.outcome(ctx, limit/commitTries, s)
	if !known {
		db.unclear = true
		return false, fault.Wrap(fault.UnknownOutcome, db.failed(ctx, err),
			"It is not known whether this was stored: the database of shardboard did not answer when it was to be completed.")
	}
	return again, err
}

// outcome sends the commit of a transaction, with the session and number that it has, until the server says
// what became of it. One try takes a part of the time only: when one answer is late or lost, the next one
// has it. again means that the transaction had no effect and may succeed if repeated.
func (db *DB) outcome(ctx context.Context, try time.Duration, s *mongo.Session) (known, again bool, err error) {
	for {
		trying, cancel := context.WithTimeout(ctx, try)
		err = s.CommitTransaction(trying)
		cancel()
		switch {
		case err == nil:
			db.written.committed()
			return true, false, nil
		case labelled(err, "UnknownTransactionCommitResult"), ctx.Err() != nil, mongo.IsNetworkError(err), mongo.IsTimeout(err), !isAnswer(err):
		case labelled(err, "TransientTransactionError"):
			return true, true, err
		default:
			return true, false, err
		}
		select {
		case <-time.After(lastRetry):
		case <-ctx.Done():
			return false, false, err
		}
	}
}

// settle looks up what became of a transaction whose commit had no answer, and discards its session: for
// the driver the transaction goes on, so that it refuses every further one. Until then nothing is written,
// because the server may still hold locks for it. Call with the write lock.
func (db *DB) settle(ctx context.Context, limit time.Duration) error {
	if !db.unclear {
		return nil
	}
	if known, _, err := db.outcome(ctx, limit/commitTries, db.session); !known {
		return err
	}
	db.discardSession(ctx)
	return nil
}

// discardSession makes the next transaction begin a session. Call with the write lock.
func (db *DB) discardSession(ctx context.Context) {
	db.session.EndSession(ctx)
	db.session, db.unclear = nil, false
}

// writingSession is the session of all transactions of this process. Its id is written beside the
// replica's name, so that the others can end a transaction that this process left open when it was
// killed (replicas.go). Call with the write lock.
func (db *DB) writingSession(ctx context.Context) (*mongo.Session, error) {
	if db.session == nil {
		s, err := db.client.StartSession()
		if err != nil {
			return nil, err
		}
		if err := db.register(ctx, s.ID()); err != nil {
			s.EndSession(ctx)
			return nil, err
		}
		db.session = s
	}
	return db.session, nil
}

// isAnswer reports whether an error is what a server answered. The driver gives some that are none the label
// of a transaction without effect, such as that its connections were closed, though an earlier try was sent.
func isAnswer(err error) bool {
	e, ok := asServerError(err)
	return ok && slices.ContainsFunc(e.ErrorCodes(), func(code int) bool { return code != 0 })
}

func labelled(err error, label string) bool {
	var e mongo.LabeledError
	return errors.As(err, &e) && e.HasErrorLabel(label)
}
