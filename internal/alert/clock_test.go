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

// withClock runs an engine whose clock can be set.
func withClock(t *testing.T, notices store.Notices, w *world, to *receiver, offset *atomic.Int64) *running {
	t.Helper()
	r := &running{to: to, w: w}
	r.Engine = New(configured(t, oneTarget), w.observe, notices, Options{Transport: to, Log: slog.New(slog.DiscardHandler),
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
				db := kept(t, t.TempDir())
				w, to := &world{notices: []Notice{notice("a", Warn)}}, &receiver{}
				r := withClock(t, db, w, to, &offset)
				set := func(by time.Duration) {
					if restart {
						r.stop()
					}
					offset.Add(int64(by))
					if restart {
						r = withClock(t, db, w, to, &offset)
					}
				}
				pass(30 * time.Second)
				set(step)
				pass(2 * time.Minute)
				same(t, "a trouble that began before", to.told(), "a=firing")
				set(-step)
				pass(70 * time.Minute)
				told := to.told()
				if len(told) == 0 || told[0] != "a=firing" {
					t.Errorf("%s, restart %v: not told again: %v", step, restart, told)
				}
				w.have()
				set(step)
				pass(5 * time.Minute)
				if told := to.told(); len(told) == 0 || told[len(told)-1] != "a=resolved" {
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
		db := kept(t, t.TempDir())
		defer db.Close()
		r := withClock(t, db, &world{}, &receiver{}, &offset)
		defer r.stop()
		pass(time.Minute)
		if _, err := r.Silence(t.Context(), store.Silence{Rule: "jumbo", Reason: "known"}, time.Hour, by()); err != nil {
			t.Fatal(err)
		}
		r.w.have(notice("a", Warn))
		pass(5 * time.Minute)
		same(t, "while it holds", r.to.told())
		offset.Store(-int64(day))
		pass(2 * time.Minute)
		same(t, "when the clock was set back", r.to.told(), "a=firing")
		if st := r.Status(); len(st.Silences) != 0 {
			t.Errorf("it is shown as one that holds: %v", st.Silences)
		}
	})
}
