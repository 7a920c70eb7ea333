package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// operationClock keeps the newest operationTime in the reply of a changing command, for
// reads that must see its effect.
type operationClock struct {
	mu sync.Mutex
	at bson.Timestamp
}

// noteOperationTime records the operationTime of a reply, also of an error reply.
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

// ownWritesKey is the context key of reads that must see our own commands.
type ownWritesKey struct{}

// withOwnWrites makes majority reads wait for our newest command.
func withOwnWrites(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownWritesKey{}, true)
}

// afterOwnWrites adds afterClusterTime to the command's read concern if its context was
// made by withOwnWrites.
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
