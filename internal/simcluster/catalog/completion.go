package catalog

import (
	"context"
	"sync"
)

// completion tells the clients of an operation that runs on a goroutine of its own how it ended, or, when a fault
// answers them before that, what they got. Safe for concurrent use; make it with newCompletion.
type completion struct {
	done chan struct{} // closed at the end, after err is set
	err  error

	answered sync.Once
	early    chan struct{} // closed when waiting clients are answered although the operation goes on
	earlyErr error
}

func newCompletion() *completion {
	return &completion{done: make(chan struct{}), early: make(chan struct{})}
}

// answer returns an error to all waiting clients while the operation goes on.
func (c *completion) answer(err error) {
	c.answered.Do(func() {
		c.earlyErr = err
		close(c.early)
	})
}

// wait waits for the end within the command's time limit. A client that was answered before the end keeps that answer,
// also when it looks only after the end.
func (c *completion) wait(ctx context.Context) error {
	select {
	case <-c.done:
	case <-c.early:
	case <-ctx.Done():
		return expired(ctx)
	}
	select {
	case <-c.early:
		return c.earlyErr
	default:
		return c.err
	}
}

// carryOut runs an operation on a goroutine of its own; ended is called at its end with Mu held, before its clients go
// on.
func (c *Cluster) carryOut(op *completion, run func(life context.Context) error, ended func()) {
	c.work.Go(func() {
		op.err = run(c.life)
		c.Mu.Lock()
		ended()
		c.Mu.Unlock()
		close(op.done)
	})
}
