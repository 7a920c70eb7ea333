package alert

import (
	"context"
)

// Forget makes the next check read the stored alerts. Call it while Run does not run.
func (e *Engine) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cluster = ""
	clear(e.unsaved)
}

// Follow reads the stored alerts, of which another process keeps the state and sends the messages.
func (e *Engine) Follow(ctx context.Context, cluster string) error {
	e.Forget()
	if err := e.load(ctx, cluster); err != nil {
		return err
	}
	if err := e.readSilences(ctx, cluster); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.checked, e.checkErr, e.dropped = e.o.Now(), nil, 0
	return nil
}
