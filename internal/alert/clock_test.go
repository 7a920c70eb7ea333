package alert

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

const day = 24 * time.Hour

func TestAlertsAreSentInTimeAfterClockChanges(t *testing.T) {
	for _, step := range []time.Duration{-day, day} {
		for _, restart := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var offset atomic.Int64
				db := openStore(t.TempDir())
				w, to := &world{notices: []Notice{notice("a", Warn)}}, &receiver{}
				r := startEngine(t, oneTarget, db, w, to, &offset)
				set := func(by time.Duration) {
					if restart {
						r.stop()
					}
					offset.Add(int64(by))
					if restart {
						r = startEngine(t, oneTarget, db, w, to, &offset)
					}
				}
				advance(30 * time.Second)
				set(step)
				advance(2 * time.Minute)
				expectReceived(t, "a trouble that began before", to.received(), "a=firing")
				set(-step)
				advance(70 * time.Minute)
				told := to.received()
				expect.That(t, len(told) != 0 && told[0] == "a=firing", "%s, restart %v: not sent again: %v", step, restart, told)
				w.setNotices()
				set(step)
				advance(5 * time.Minute)
				if told := to.received(); len(told) == 0 || told[len(told)-1] != "a=resolved" {
					t.Errorf("%s, restart %v: the end was not sent: %v", step, restart, told)
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
		db := openStore(t.TempDir())
		defer db.Close()
		r := startEngine(t, oneTarget, db, &world{}, &receiver{}, &offset)
		defer r.stop()
		advance(time.Minute)
		must.Do(t, must.Err(r.Silence(t.Context(), store.Silence{Rule: "jumbo", Reason: "known"}, time.Hour, byAnna())))
		r.w.setNotices(notice("a", Warn))
		advance(5 * time.Minute)
		expectReceived(t, "while it holds", r.to.received())
		offset.Store(-int64(day))
		advance(2 * time.Minute)
		expectReceived(t, "when the clock was set back", r.to.received(), "a=firing")
		if st := r.Status(); len(st.Silences) != 0 {
			t.Errorf("the silence is still shown as active: %v", st.Silences)
		}
	})
}
