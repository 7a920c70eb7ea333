package heat

import (
	"testing"
	"testing/synctest"
	"time"
)

// While it is paused nothing can be held, and who waits goes on afterwards.
func TestPausedBudgetAllowsNoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, began := NewBudget(0, nil), time.Now()
		b.PauseWhile(func() bool { return time.Since(began) < 5*time.Second })
		if n := b.Hold(10); n != 0 {
			t.Errorf("%d documents while it is paused", n)
		}
		if err := b.Wait(t.Context(), 10); err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if n := b.Hold(10); n != 10 {
			t.Errorf("%d documents afterwards", n)
		}
	})
}
