package audit_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store/audit"
)

// Records and heads are ordered by number, because their times may go back.
func TestTheChainIsSignedAndVerifiedAfterClockChanges(t *testing.T) {
	for _, step := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var offset atomic.Int64
			clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
			m := newChain(t, 3)
			o := audit.Options{Key: newKey(t), Now: clock}
			k, stop := runKeeper(t, m, o)
			add := func() {
				t.Helper()
				e := entry()
				e.At = clock()
				must.Do(t, must.Err(m.Append(t.Context(), e)))
			}
			add()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			offset.Store(int64(step))
			add()
			time.Sleep(time.Minute)
			synctest.Wait()
			st := k.State()
			expect.That(t, st.Break == nil && st.Err == nil && st.Head.Seq == 5 && st.Whole.Equal(st.At),
				"%s: the whole chain was not read at once: %+v", step, st)
			for range 25 { // hours; the next complete verification is a day after the last
				time.Sleep(time.Hour)
			}
			synctest.Wait()
			if st := k.State(); clock().Sub(st.Whole) > 2*time.Hour || clock().Sub(st.At) > 2*time.Minute {
				t.Errorf("%s: verified completely %s ago, checked %s ago", step, clock().Sub(st.Whole), clock().Sub(st.At))
			}
			offset.Store(0)
			add()
			stop()

			k, stop = runKeeper(t, m, o) // another process
			synctest.Wait()
			stop()
			if st := k.State(); st.Break != nil || st.Err != nil || st.End.Seq != 6 || st.Head.Seq != 6 {
				t.Errorf("%s: after a restart: %+v", step, st)
			}
			if rep := verify(t, m.records, audit.Expect{Heads: m.heads, Key: k.State().Key}); rep.Break != nil || rep.Head.Seq != 6 {
				t.Errorf("%s: unexpected report: %+v", step, rep)
			}
			m.records[3].Subject = "another"
			k, stop = runKeeper(t, m, o)
			synctest.Wait()
			stop()
			if st := k.State(); st.Break == nil || st.Break.Seq != 4 {
				t.Errorf("%s: a changed record is not found: %+v", step, st)
			}
		})
	}
}
