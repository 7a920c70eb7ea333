package cluster

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
)

var _ operation.Admin = (*Client)(nil)

// Run sends a changing command once. The driver does not retry RunCommand and sends the deadline as maxTimeMS. run is
// sent as "comment", which every command accepts since 4.4.
func (c *Client) Run(ctx context.Context, run string, cmd operation.Command, a operation.Attempt) (bson.Raw, error) {
	var doc bson.D
	if err := bson.Unmarshal(cmd.Doc, &doc); err != nil {
		return nil, fmt.Errorf("read command: %w", err)
	}
	if run != "" {
		doc = append(doc, bson.E{Key: "comment", Value: run})
	}
	p, err := c.use(ctx)
	if err != nil {
		return nil, err // nothing was sent
	}
	defer p.release()
	sending, stop := context.WithCancel(ctx)
	defer stop()
	s := &sent{check: operation.SendCheck(ctx), stop: stop}
	reply, err := p.run(context.WithValue(sending, sentKey{}, s), cmd.DB, doc)
	c.noteOperationTime(reply, err)
	if s.refused != nil {
		return nil, s.refused
	}
	return reply, c.outcome(ctx, err, s.left.Load(), a)
}

// sentKey is the context key of the *sent of a command.
type sentKey struct{}

// sent is what became of a command before it was written to its connection.
type sent struct {
	check   func() error // actions.SendCheck; nil: none
	stop    context.CancelFunc
	refused error // by check
	left    atomic.Bool
}

// begin is called when a command is about to be written. The driver looks at the context once more
// after that, so a command that is stopped here is not written.
func (s *sent) begin() {
	if s.check != nil {
		if s.refused = s.check(); s.refused != nil {
			s.stop()
			return
		}
	}
	s.left.Store(true)
}

// noteSent wraps a monitor and records when a command is about to be written to its
// connection. From then on the outcome is unknown without an answer: the error alone
// does not show whether the connection broke before or after the command was sent.
func noteSent(next *event.CommandMonitor) *event.CommandMonitor {
	m := event.CommandMonitor{}
	if next != nil {
		m = *next
	}
	started := m.Started
	m.Started = func(ctx context.Context, e *event.CommandStartedEvent) {
		if s, ok := ctx.Value(sentKey{}).(*sent); ok {
			s.begin()
		}
		if started != nil {
			started(ctx, e)
		}
	}
	return &m
}

// outcome classifies the error of a changing command.
func (c *Client) outcome(ctx context.Context, err error, left bool, a operation.Attempt) error {
	switch {
	case err == nil:
		return nil
	case !left:
		return c.classify(ctx, err, a.To, a.Privilege)
	}
	if answer, ok := answerOf(err); ok {
		return c.refusal(answer, err, a)
	}
	return fault.Wrap(fault.UnknownOutcome, err,
		"The cluster at %s was asked to %s and no answer came back; whether it happened can only be read from it.", c.hosts(), a.To)
}
