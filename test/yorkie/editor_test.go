package yorkie_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/yorkie-team/yorkie/client"
	"github.com/yorkie-team/yorkie/pkg/document"
	"github.com/yorkie-team/yorkie/pkg/document/json"
	"github.com/yorkie-team/yorkie/pkg/document/presence"
	"github.com/yorkie-team/yorkie/pkg/key"
)

// editor is one Yorkie client: it edits a document shared by its project and some of
// its own, which it creates and removes.
type editor struct {
	n      int
	client *client.Client
	random *rand.Rand
	shared *document.Document
	own    []*document.Document

	edits, made int
	counted     map[string]int64 // increments of its counter by document, as the server acknowledged them; without removed documents
}

// runEditor runs an editor until the context ends and returns the first error. It adds its actions to a count.
func runEditor(ctx context.Context, n int, addr, apiKey string, written *atomic.Int64) (*editor, error) {
	c, err := client.Dial(addr, client.WithAPIKey(apiKey))
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	e := &editor{n: n, client: c, random: rand.New(rand.NewPCG(uint64(n), 7)), shared: document.New("shared"),
		counted: map[string]int64{}}
	defer func() { _ = c.Close() }()
	// Calls are not cancelled, because a cancelled call looks like a server error.
	call := context.WithoutCancel(ctx)
	if err := c.Activate(call); err != nil {
		return e, fmt.Errorf("activate: %w", err)
	}
	if err := c.Attach(call, e.shared, client.WithPresence(presence.Data{"name": fmt.Sprint(n)})); err != nil {
		return e, fmt.Errorf("attach shared: %w", err)
	}
	for ctx.Err() == nil {
		if err := e.act(call); err != nil {
			return e, err
		}
		written.Add(1)
	}
	return e, e.leave(call)
}

// act is one action of a user.
func (e *editor) act(ctx context.Context) error {
	switch r := e.random.IntN(100); {
	case len(e.own) == 0 || r < 3 && len(e.own) < 5:
		return e.open(ctx)
	case r < 5:
		return e.close(ctx)
	case r < 6:
		return e.remove(ctx)
	case r < 30:
		return e.change(ctx, e.shared)
	default:
		return e.change(ctx, e.own[e.random.IntN(len(e.own))])
	}
}

func (e *editor) open(ctx context.Context) error {
	d := document.New(key.Key(fmt.Sprintf("paper-%d-%d", e.n, e.made)))
	e.made++
	if err := e.client.Attach(ctx, d); err != nil {
		return fmt.Errorf("attach %s: %w", d.Key(), err)
	}
	e.own = append(e.own, d)
	return nil
}

// pick removes a random own document from the list.
func (e *editor) pick() *document.Document {
	i := e.random.IntN(len(e.own))
	d := e.own[i]
	e.own = append(e.own[:i:i], e.own[i+1:]...)
	return d
}

func (e *editor) close(ctx context.Context) error {
	d := e.pick()
	if err := e.client.Detach(ctx, d); err != nil {
		return fmt.Errorf("detach %s: %w", d.Key(), err)
	}
	return nil
}

func (e *editor) remove(ctx context.Context) error {
	d := e.pick()
	if err := e.client.Remove(ctx, d); err != nil {
		return fmt.Errorf("remove %s: %w", d.Key(), err)
	}
	delete(e.counted, d.Key().String())
	return nil
}

// change edits a document and pushes it.
func (e *editor) change(ctx context.Context, d *document.Document) error {
	increments := int64(0)
	err := d.Update(func(root *json.Object, p *presence.Presence) error {
		text, count, list := fmt.Sprintf("text-%d", e.n), fmt.Sprintf("count-%d", e.n), fmt.Sprintf("list-%d", e.n)
		if !root.Has(text) {
			root.SetNewText(text)
			root.SetNewCounter(count, int64(0))
			root.SetNewArray(list)
		}
		switch e.random.IntN(4) {
		case 0:
			root.GetText(text).Edit(0, 0, "some words ")
		case 1:
			root.GetCounter(count).Increase(1)
			increments++
		case 2:
			root.GetArray(list).AddInteger(e.edits)
		default:
			p.Set("cursor", fmt.Sprint(e.edits))
			root.SetString("last", fmt.Sprint(e.n))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("update %s: %w", d.Key(), err)
	}
	if err := e.client.Sync(ctx, client.WithKey(d.Key())); err != nil {
		return fmt.Errorf("sync %s: %w", d.Key(), err)
	}
	e.edits++
	e.counted[d.Key().String()] += increments
	return nil
}

// leave detaches the shared document and deactivates the client; the server detaches the rest.
func (e *editor) leave(ctx context.Context) error {
	if err := e.client.Detach(ctx, e.shared); err != nil {
		return fmt.Errorf("detach shared: %w", err)
	}
	if err := e.client.Deactivate(ctx); err != nil {
		return fmt.Errorf("deactivate: %w", err)
	}
	return nil
}
