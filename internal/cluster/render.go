package cluster

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
)

var _ actions.Renderer = (*Client)(nil)

// renderKey finds in a command's context where to put it instead of sending it.
type renderKey struct{}

// errRendered ends the way of a command that is not to be sent.
var errRendered = errors.New("rendered, not sent")

// Render gives the command of a step as it will be sent to this release: it
// goes the way of a command that is sent, up to the comment, the time limit and
// what the driver adds. A step that sends nothing has the empty command.
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

// rendered puts a command where its context asks for it; false when the context
// wants it sent.
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
