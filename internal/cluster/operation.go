package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// operation is the newest operationTime with which a command that changes
// something was answered, for reads that must not be older.
type operation struct {
	mu sync.Mutex
	at bson.Timestamp
}

// operated notes the time of a command's answer, a refusal too.
func (c *Client) operated(reply bson.Raw, err error) {
	var refused mongo.CommandError
	if err != nil && errors.As(err, &refused) {
		reply = refused.Raw
	}
	t, i, ok := reply.Lookup("operationTime").TimestampOK()
	at := bson.Timestamp{T: t, I: i}
	if !ok {
		return
	}
	c.newest.mu.Lock()
	defer c.newest.mu.Unlock()
	if at.After(c.newest.at) {
		c.newest.at = at
	}
}

// latestKey marks the context of reads that must see our own commands.
type latestKey struct{}

// seeing makes reads of the majority wait for the newest of our commands.
func seeing(ctx context.Context) context.Context {
	return context.WithValue(ctx, latestKey{}, true)
}

// latest is the command with that wish in its read concern, where its context
// has it.
func (c *Client) latest(ctx context.Context, cmd bson.D) bson.D {
	if ctx.Value(latestKey{}) == nil {
		return cmd
	}
	c.newest.mu.Lock()
	at := c.newest.at
	c.newest.mu.Unlock()
	i := slices.IndexFunc(cmd, func(e bson.E) bool { return e.Key == "readConcern" })
	if i < 0 || at.IsZero() {
		return cmd
	}
	cmd = slices.Clone(cmd)
	cmd[i].Value = bson.D{{Key: "level", Value: "majority"}, {Key: "afterClusterTime", Value: at}}
	return cmd
}
