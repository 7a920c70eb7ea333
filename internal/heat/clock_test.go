package heat

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/profile"
)

func TestCountingContinuesWhenTheClockIsSet(t *testing.T) {
	for _, step := range []time.Duration{-24 * time.Hour, 24 * time.Hour, -7 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var offset atomic.Int64
			clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
			src := newKnownWrites(1, 3, 2, func(int) float64 { return 2 })
			c := NewCollector(src, fixedTable{yorkieTable()}, profile.Yorkie(), Options{Seed: 1, Now: clock})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- c.Run(ctx) }()
			for _, to := range []time.Duration{0, step, 0} {
				offset.Store(int64(to))
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				w := c.Window("y.changes", time.Minute)
				if age := clock().Sub(w.To); age < 0 || age > 3*Tick {
					t.Errorf("set by %s: the newest count is %s old, want age at least 0, age at most %v", to, age, 3*Tick)
				}
				if w.Seconds < 40 || w.Seconds > 70 || w.From.After(w.To) || w.To.Sub(w.From) > 2*time.Minute {
					t.Errorf("set by %s: a minute is %.0f s, from %s to %s", to, w.Seconds, w.From, w.To)
				}
			}
			cancel()
			<-done
		})
	}
}

func TestSlotsFollowTheClock(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct{ now, want time.Duration }{
		"in time":          {time.Second, Tick},
		"a little late":    {Tick + time.Second, Tick},
		"slept":            {time.Hour, time.Hour},
		"a moment back":    {-2 * time.Second, Tick},
		"set back by 30 s": {-30 * time.Second, -30*time.Second + Tick},
		"set back by 1 d":  {-24 * time.Hour, -24*time.Hour + Tick},
	} {
		expect.Equal(t, slotAfter(at, at.Add(tc.now)).Sub(at), tc.want, "%s", name)
	}
}
