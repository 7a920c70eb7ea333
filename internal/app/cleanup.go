package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
)

// cleanup is a stack of named clean-up steps. Each resource pushes its step as soon as it exists,
// so a failure half-way through New leaves nothing behind.
type cleanup struct {
	log   *slog.Logger
	steps []step
}

type step struct {
	name string
	end  func(context.Context) error
}

func (c *cleanup) push(name string, end func(context.Context) error) {
	c.steps = append(c.steps, step{name, end})
}

// run runs all steps, newest first, even when one fails. It returns the first failure and logs all.
func (c *cleanup) run(ctx context.Context) error {
	var first error
	for _, s := range slices.Backward(c.steps) {
		if err := s.end(ctx); err != nil {
			c.log.Warn("clean up", "step", s.name, "err", err)
			if first == nil {
				first = fmt.Errorf("clean up %s: %w", s.name, err)
			}
		}
	}
	c.steps = nil
	return first
}
