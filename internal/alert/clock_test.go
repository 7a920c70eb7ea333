package alert

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/store"
)

// startEngineWithClock runs an engine whose clock can be set.
func startEngineWithClock(t *testing.T, notices store.Notices, w *world, to *receiver, offset *atomic.Int64) *runningEngine {
	t.Helper()
	r := &runningEngine{to: to, w: w}
	r.Engine = New(parseConfig(t, oneTarget), w.observe, notices, Options{Transport: to, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	r.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	return r
}

const day = 24 * time.Hour

func TestAlertsAreSentInTimeAfterClockChanges(t *testing.T) {
	for _, step := range []time.Duration{-day, day} {
		for _, restart := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var offset atomic.Int64
				db := openStore(t, t.TempDir())
				w, to := &world{notices: []Notice{notice("a", Warn)}}, &receiver{}
				r := startEngineWithClock(t, db, w, to, &offset)
				set := func(by time.Duration) {
					if restart {
						r.stop()
					}
					offset.Add(int64(by))
					if restart {
						r = startEngineWithClock(t, db, w, to, &offset)
					}
				}
				advance(30 * time.Second)
				set(step)
				advance(2 * time.Minute)
				expectReceived(t, "a trouble that began before", to.received(), "a=firing")
				set(-step)
				advance(70 * time.Minute)
				told := to.received()
				if len(told) == 0 || told[0] != "a=firing" {
					t.Errorf("%s, restart %v: not told again: %v", step, restart, told)
				}
				w.setNotices()
				set(step)
				advance(5 * time.Minute)
				if told := to.received(); len(told) == 0 || told[len(told)-1] != "a=resolved" {
					t.Errorf("%s, restart %v: not told that it is over: %v", step, restart, told)
				}
				r.stop()
				_ = db.Close()
			})
		}
	}
}

func TestASilenceIsNotProlongedWhenTheClockIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var offset atomic.Int64
		db := openStore(t, t.TempDir())
		defer db.Close()
		r := startEngineWithClock(t, db, &world{}, &receiver{}, &offset)
		defer r.stop()
		advance(time.Minute)
		if _, err := r.Silence(t.Context(), store.Silence{Rule: "jumbo", Reason: "known"}, time.Hour, byAnna()); err != nil {
			t.Fatal(err)
		}
		r.w.setNotices(notice("a", Warn))
		advance(5 * time.Minute)
		expectReceived(t, "while it holds", r.to.received())
		offset.Store(-int64(day))
		advance(2 * time.Minute)
		expectReceived(t, "when the clock was set back", r.to.received(), "a=firing")
		if st := r.Status(); len(st.Silences) != 0 {
			t.Errorf("it is shown as one that holds: %v", st.Silences)
		}
	})
}
