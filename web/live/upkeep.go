package live

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"shardboard/internal/auth"
)

// Each second, every 25th of the sockets is pinged, and whoever opened it is checked.
const (
	rounds      = 25 // seconds; well below readWait
	checkWait   = 10 * time.Second
	checkAtOnce = 8
)

// upkeep is what open sockets need each second. It runs on the hub's own goroutine.
func (h *Hub) upkeep(ctx context.Context) {
	h.round = (h.round + 1) % rounds
	now := time.Now()
	var due []*socket
	for c := range h.open {
		switch {
		case !c.until.IsZero() && !now.Before(c.until):
			c.leave() // only a proxy knows who it is: the page comes back through it by itself
		case c.round == h.round:
			c.push(ping())
			due = append(due, c)
		}
	}
	if len(due) > 0 {
		h.checks.Go(func() { h.check(ctx, due) })
	}
}

// CheckAll checks at once whoever has a socket open, because roles have changed.
func (h *Hub) CheckAll() {
	h.rolesSeq.Add(1)
	select {
	case h.roles <- struct{}{}:
	default: // they are about to be checked
	}
}

// check closes the sockets of those who are signed out, or are no longer who they were. This
// process tells at once (AfterEnd); here it is asked for again, in case another one ended
// it. Who cannot be checked is closed too: they come back and are asked at the door.
func (h *Hub) check(ctx context.Context, all []*socket) {
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	var g errgroup.Group
	g.SetLimit(checkAtOnce)
	for _, c := range all {
		g.Go(func() error {
			switch err := h.site.Deps.Access.Auth.Check(ctx, c.who); {
			case errors.Is(err, auth.ErrNobody):
				c.part(CloseEnded)
			case err != nil:
				c.leave()
			}
			return nil
		})
	}
	_ = g.Wait() // no check returns an error
}
