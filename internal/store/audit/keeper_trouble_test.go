package audit_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// A disk that is busy at one check is not reported. One that is busy at two checks in a
// row is reported as trouble, and a missing table at once.
func TestALastingReadFailureIsReportedAsTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newChain(t, 3)
		var log bytes.Buffer
		k, stop := runKeeper(t, m, audit.Options{Key: newKey(t), Log: slog.New(slog.NewTextHandler(&log, nil))})
		defer stop()
		code := func(err error, minutes int) string {
			m.mu.Lock()
			m.fails = err
			m.mu.Unlock()
			time.Sleep(time.Duration(minutes) * time.Minute)
			synctest.Wait()
			if tr := k.State().Trouble(); tr != nil {
				return tr.Code
			}
			return ""
		}
		busy := errors.New("database is locked")
		for i, step := range []struct {
			err     error
			minutes int
			want    string
		}{
			{nil, 1, ""}, {busy, 1, ""}, {nil, 1, ""}, {busy, 1, ""}, {busy, 1, "unread"}, {busy, 5, "unread"}, {nil, 1, ""},
			{errors.Join(store.ErrAuditDamaged, busy), 1, "damaged"}, {busy, 1, "unread"}, {nil, 1, ""},
		} {
			if got := code(step.err, step.minutes); got != step.want {
				t.Errorf("step %d: %q, want %q: %+v", i, got, step.want, k.State())
			}
		}
		if errs, again := strings.Count(log.String(), "level=ERROR"), strings.Count(log.String(), "verified again"); errs != 2 || again != 2 {
			t.Errorf("%d errors and %d renewed verifications in the log: %s", errs, again, &log)
		}
	})
}

// A long record is verified again in rounds of several checks: each record is read again
// within one round. Whole is the time since which all records are verified.
func TestOldRecordsAreVerifiedAgainInRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 12_000 // two checks per round
		m := newChain(t, n)
		start := time.Now()
		k, stop := runKeeper(t, m, audit.Options{Key: newKey(t)})
		defer stop()
		synctest.Wait()
		if st := k.State(); st.End.Seq != n || !st.Whole.Equal(start) {
			t.Fatalf("%+v", st)
		}
		for minute := 1; minute <= 4; minute++ {
			time.Sleep(time.Minute)
			synctest.Wait()
			want := map[int]time.Duration{1: 0, 2: time.Minute, 3: time.Minute, 4: 3 * time.Minute}[minute]
			if st := k.State(); st.Whole.Sub(start) != want || st.Trouble() != nil {
				t.Errorf("minute %d: %s %+v", minute, st.Whole.Sub(start), st)
			}
		}
		m.mu.Lock()
		m.records[11_500].By = "user:2"
		m.mu.Unlock()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if st := k.State(); st.Break == nil || st.Break.Seq != 11_501 {
			t.Errorf("the change was not found within a round: %+v", st)
		}
	})
}
