package cluster

import (
	"context"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/fault"
)

// What a command may take when its caller did not say. A migration moves
// gigabytes and may wait for the deletion of its range.
const (
	commandTime   = time.Minute
	migrationTime = time.Hour
)

// action says what a command does, for the words of its failure.
type action struct {
	what      string // infinitive: "split the chunk"
	privilege string // "splitChunk on db.coll"
	limit     time.Duration
}

// command sends a command that changes something, once. The driver does not
// retry RunCommand, and the deadline goes with it as maxTimeMS. run becomes the
// generic argument "comment", which every command has had since 4.4.
func (c *Client) command(ctx context.Context, run, db string, cmd bson.D, a action) (bson.Raw, error) {
	if _, ok := ctx.Deadline(); !ok {
		limit := commandTime
		if a.limit > 0 {
			limit = a.limit
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if done, err := rendered(ctx, db, cmd); done {
		return nil, err
	}
	if run != "" {
		cmd = append(cmd, bson.E{Key: "comment", Value: run})
	}
	var left atomic.Bool
	reply, err := c.mongo.Database(db).RunCommand(context.WithValue(ctx, sentKey{}, &left), cmd).Raw()
	c.noteOperationTime(reply, err)
	return reply, c.outcome(ctx, err, left.Load(), a)
}

// admin is command on the admin database, for those whose reply says no more
// than that it is done.
func (c *Client) admin(ctx context.Context, run string, cmd bson.D, a action) error {
	_, err := c.command(ctx, run, "admin", cmd, a)
	return err
}

// sentKey finds in a command's context where to note that it left.
type sentKey struct{}

// noteSent is a monitor that also notes when a command is about to be written to
// its connection: from then on only the server knows what became of it. The
// error alone does not tell a dead connection from one that died in mid-command.
func noteSent(next *event.CommandMonitor) *event.CommandMonitor {
	m := event.CommandMonitor{}
	if next != nil {
		m = *next
	}
	started := m.Started
	m.Started = func(ctx context.Context, e *event.CommandStartedEvent) {
		if left, ok := ctx.Value(sentKey{}).(*atomic.Bool); ok {
			left.Store(true)
		}
		if started != nil {
			started(ctx, e)
		}
	}
	return &m
}

// outcome classifies the error of a command that changes something.
func (c *Client) outcome(ctx context.Context, err error, left bool, a action) error {
	switch {
	case err == nil:
		return nil
	case !left:
		return c.classify(ctx, err, a.what, a.privilege)
	}
	if answer, ok := answerOf(err); ok {
		return c.refusal(answer, err, a)
	}
	return fault.Wrap(fault.UnknownOutcome, err,
		"The cluster at %s was asked to %s and no answer came back; whether it happened can only be read from it.", c.uri.Hosts(), a.what)
}
