package actions

import "context"

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
