package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// operationClock is the newest operationTime with which a command that changes
// something was answered, for reads that must not be older.
type operationClock struct {
	mu sync.Mutex
	at bson.Timestamp
}

// noteOperationTime notes the time of a command's answer, a refusal too.
func (c *Client) noteOperationTime(reply bson.Raw, err error) {
	var refused mongo.CommandError
	if err != nil && errors.As(err, &refused) {
		reply = refused.Raw
	}
	t, i, ok := reply.Lookup("operationTime").TimestampOK()
	at := bson.Timestamp{T: t, I: i}
	if !ok {
		return
	}
	c.lastOperation.mu.Lock()
	defer c.lastOperation.mu.Unlock()
	if at.After(c.lastOperation.at) {
		c.lastOperation.at = at
	}
}

// ownWritesKey marks the context of reads that must see our own commands.
type ownWritesKey struct{}

// withOwnWrites makes reads of the majority wait for the newest of our commands.
func withOwnWrites(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownWritesKey{}, true)
}

// afterOwnWrites is the command with that wish in its read concern, where its context
// has it.
func (c *Client) afterOwnWrites(ctx context.Context, cmd bson.D) bson.D {
	if ctx.Value(ownWritesKey{}) == nil {
		return cmd
	}
	c.lastOperation.mu.Lock()
	at := c.lastOperation.at
	c.lastOperation.mu.Unlock()
	i := slices.IndexFunc(cmd, func(e bson.E) bool { return e.Key == "readConcern" })
	if i < 0 || at.IsZero() {
		return cmd
	}
	cmd = slices.Clone(cmd)
	cmd[i].Value = bson.D{{Key: "level", Value: "majority"}, {Key: "afterClusterTime", Value: at}}
	return cmd
}
