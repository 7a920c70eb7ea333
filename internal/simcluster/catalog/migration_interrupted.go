package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// valuesContext ends like one context and has the values of another: the hook needs the
// requesting command of a migration, which may end before the migration does.
type valuesContext struct {
	context.Context
	values context.Context
}

func (v valuesContext) Value(key any) any { return v.values.Value(key) }

// atStep calls the hook for a migration. Mu is not held.
func (t *transfer) atStep(ctx context.Context, step Step) error {
	return t.c.atStep(valuesContext{ctx, t.m.asked}, Point{
		Command: t.m.Options.Command, Step: step, NS: t.m.NS, Min: t.m.Min, Max: t.m.Max,
		From: t.m.From, To: t.m.To, Answer: t.m.answer,
	})
}

// stopAt ends a migration at a step where the hook returned an error. Before the commit
// the chunk stays; after it the chunk has moved, and only the remaining steps are
// skipped. Mu is not held.
func (t *transfer) stopAt(step Step, err error) error {
	var down *SteppedDown
	isDown := errors.As(err, &down)
	switch step {
	case Committed, Logged, Cleaning:
		t.c.Mu.Lock()
		defer t.c.Mu.Unlock()
		t.scheduleDonorCleanup(false)
		if isDown {
			return t.c.stepDownError("InterruptedDueToReplStateChange: operation was interrupted")
		}
		return err
	}
	if isDown {
		return t.steppedDown(step, down.Term)
	}
	switch step {
	case Started:
		return t.failOnDonor(err)
	case Committing:
		t.c.Mu.Lock()
		defer t.c.Mu.Unlock()
		r, ch, gone := t.route()
		if gone != nil {
			t.deleteCopied()
			return t.logFailure(gone)
		}
		return t.rejectCommit(r, ch, err)
	}
	return t.abortBoth(err, nil)
}

// recoverTime is how long after the end of a donor's term the next primary recovers its migration (assumed; 8.0).
const recoverTime = time.Second

// steppedDown ends a migration whose donor is no longer primary: it logs nothing, the
// recipient aborts unless it was done, and the recovery increases the version of the
// chunk that stayed.
func (t *transfer) steppedDown(step Step, term int64) error {
	cause := t.stepDownCause(step, term)
	if step != Committing && step != Started {
		var reason error
		if t.c.since(8) && (step == CaughtUp || step == Critical) {
			reason = errors.New("timed out waiting for commit")
		}
		t.abortRecipient(reason)
	}
	t.c.Mu.Lock()
	t.c.stepDowns[t.m.From]++
	t.c.Mu.Unlock()
	if t.c.since(8) && step != Committing {
		// The client is answered at once; the next primary recovers the migration a little later.
		t.m.answer(t.c.stepDownError(cause))
		_ = t.c.pause(t.c.life, recoverTime)
	}
	t.c.Mu.Lock()
	defer t.c.Mu.Unlock()
	again := step == Committing && t.c.since(8)
	if step == Committing {
		t.deleteCopied()
	}
	if step == Committing && !again {
		t.c.logChange(t.m.From, "Sharding minOpTime recovery", "admin.system.version", value.D(
			"_id", "minOpTimeRecovery", "minOpTime", value.D("ts", t.c.Timestamp(), "t", int64(-1)),
			"minOpTimeUpdaters", int32(1)))
	}
	if r, ch, err := t.route(); err == nil {
		t.c.recoverVersion(r, ch, t.chunk)
	}
	if again {
		return errAskAgain
	}
	return t.c.stepDownError(cause)
}

// recoverVersion is the recovery of a donor: it increases the version of the chunk that stayed, so that a late commit
// cannot succeed. 8.0 leaves a version that has become greater since the migration began.
func (c *Cluster) recoverVersion(r *Routing, ch *Chunk, begun bson.Timestamp) {
	if c.since(8) && older(begun, ch.Version) {
		return
	}
	ch.Version = r.bumpMajor()
	c.saveChunk(r, ch)
}

// stepDownCause is the donor's error text, which depends on the step that it could not
// do.
func (t *transfer) stepDownCause(step Step, term int64) string {
	const interrupted = "InterruptedDueToReplStateChange: operation was interrupted"
	t.c.Mu.RLock()
	defer t.c.Mu.RUnlock()
	r := t.c.Routing(t.m.NS)
	switch {
	case step == Cloning || step == Cloned:
		return "InterruptedDueToReplStateChange: Failed to contact recipient shard to monitor data transfer :: caused by :: " +
			"operation was interrupted"
	case t.c.since(8):
	case (step == CaughtUp || step == Critical) && r != nil && r.counts[t.m.To] == 0:
		// The donor writes an oplog entry when the recipient has no chunk of the collection
		// yet.
		at := t.c.Timestamp()
		return fmt.Sprintf("NotWritablePrimary: logOp() but can't accept write to collection %s: entries: 1: [ (RecordId(null), "+
			"{ op: \"n\", ns: \"%s\", ui: UUID(\"%s\"), o: { msg: \"Migrating chunk from shard %s to shard %s with no chunks "+
			"for this collection\" }, "+
			"o2: { type: \"migrateChunkToNewShard\", from: \"%s\", to: \"%s\" }, ts: Timestamp(%d, %d), t: %d, v: 2, wall: new Date(%d) }) ]",
			t.m.NS, t.m.NS, uuidText(t.uuid), t.m.From, t.m.To, t.m.From, t.m.To, at.T, at.I, term, t.c.Now().UnixMilli())
	}
	return interrupted
}

// stepDownError is the config server's error when the donor stepped down. Before 8.0 it
// has a code of its own and names the donor's in its text.
func (c *Cluster) stepDownError(cause string) error {
	if c.since(8) {
		_, what, _ := strings.Cut(cause, ": ")
		return sourceError(status.Errorf(status.Interrupted, "%s", what))
	}
	return status.Errorf(status.OperationFailed, "moveChunk command failed on source shard. :: caused by :: %s", cause)
}
