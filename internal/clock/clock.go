// Package clock has what several packages need to know about the machine's time:
// how far it may be set back without notice, and how to wait.
package clock

import (
	"context"
	"time"
)

// Slack is how far the clock may be set back unnoticed: time services correct it by
// fractions of a second, people by more than a minute.
const Slack = time.Minute

// Ahead reports that t, which was the time once, has not come yet: the clock was set
// back since. How long ago t was is not known then, and the caller must choose the
// safe side.
func Ahead(t, now time.Time) bool { return t.After(now.Add(Slack)) }

// Later is the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Sleep waits for d, or not at all when there is nothing to wait for. The error is
// the context's.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
