package heat

import (
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
)

// While it is paused nothing can be held, and who waits goes on afterwards.
func TestPausedBudgetAllowsNoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, began := NewBudget(0, nil), time.Now()
		b.PauseWhile(func() bool { return time.Since(began) < 5*time.Second })
		expect.Equal(t, b.Hold(10), 0, "documents while it is paused")
		if err := b.Wait(t.Context(), 10); err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		expect.Equal(t, b.Hold(10), 10, "documents afterwards")
	})
}
