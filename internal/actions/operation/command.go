package operation

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Command is a command exactly as it is sent, without the comment (the run's id),
// the time limit and the fields that the driver adds.
type Command struct {
	DB  string
	Doc bson.Raw
}

// Equal reports whether both are the same command, byte by byte.
func (c Command) Equal(o Command) bool { return c.DB == o.DB && bytes.Equal(c.Doc, o.Doc) }

type sendCheckKey struct{}

// CheckBeforeSending returns a context with which an Admin calls check at the last moment: when it has
// chosen a server and has a connection, right before it writes the command to it. If check fails,
// nothing is sent and the Admin returns its error.
func CheckBeforeSending(ctx context.Context, check func() error) context.Context {
	return context.WithValue(ctx, sendCheckKey{}, check)
}

// SendCheck is the check of a context; nil if it has none.
func SendCheck(ctx context.Context) func() error {
	check, _ := ctx.Value(sendCheckKey{}).(func() error)
	return check
}
