package cluster

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
)

var _ actions.Renderer = (*Client)(nil)

// renderKey is the context key of a command that is to be rendered instead of sent.
type renderKey struct{}

// errRendered stops a rendered command before it is sent.
var errRendered = errors.New("rendered, not sent")

// Render returns the command that a step will send to this release. It uses the code
// that sends the command, so the two cannot differ; comment, time limit and the
// driver's fields are not included. A step that sends nothing returns an empty command.
func (c *Client) Render(s actions.Step) (actions.Command, error) {
	if !s.Sends() {
		return actions.Command{}, nil
	}
	var out actions.Command
	err := s.Send(context.WithValue(context.Background(), renderKey{}, &out), c, "")
	switch {
	case err == nil:
		return out, fmt.Errorf("render %s: nothing was to be sent", s.Op)
	case !errors.Is(err, errRendered):
		return out, err
	}
	return out, nil
}

// rendered stores a command if its context asks for rendering; otherwise it returns
// false and the command is sent.
func rendered(ctx context.Context, db string, cmd bson.D) (bool, error) {
	out, ok := ctx.Value(renderKey{}).(*actions.Command)
	if !ok {
		return false, nil
	}
	doc, err := bson.Marshal(cmd)
	if err != nil {
		return true, fmt.Errorf("render command: %w", err)
	}
	*out = actions.Command{DB: db, Doc: doc}
	return true, errRendered
}
