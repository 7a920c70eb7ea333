package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
)

func TestSleepWaitsUntilTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		if err := Sleep(ctx, time.Second); err != nil || time.Since(begun) != time.Second {
			t.Errorf("%v after %v, want a second", err, time.Since(begun))
		}
		expect.NoError(t, Sleep(ctx, 0), "nothing to wait for")
		if err := Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
			t.Errorf("%v after %v, want the context's end after a minute", err, time.Since(begun))
		}
		expect.That(t, Sleep(ctx, 0) != nil, "the context has ended, and a wait of nothing succeeds")
	})
}

func TestAheadForgivesSmallCorrections(t *testing.T) {
	now := time.Now()
	if Ahead(now.Add(Slack), now) || !Ahead(now.Add(Slack+1), now) || Ahead(now.Add(-time.Hour), now) {
		t.Error("only what is more than the slack after now is ahead")
	}
}
