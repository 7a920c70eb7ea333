package alert

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/store"
)

// runningEngine is an engine that runs in a synctest bubble until stop.
type runningEngine struct {
	*Engine
	to   *receiver
	w    *world
	log  *bytes.Buffer
	stop func()
}

// startEngine runs an engine; the clock that it may get is that many nanoseconds ahead.
func startEngine(
	t *testing.T, config string, notices store.Notices, w *world, to http.RoundTripper, ahead ...*atomic.Int64,
) *runningEngine {
	t.Helper()
	r := &runningEngine{w: w, log: &bytes.Buffer{}}
	r.to, _ = to.(*receiver)
	o := Options{Transport: to, Log: slog.New(slog.NewTextHandler(r.log, nil))}
	if len(ahead) > 0 {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead[0].Load())) }
	}
	r.Engine = New(parseConfig(t, config), w.observe, notices, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	r.stop = func() {
		cancel()
		expect.NoError(t, <-done, "the end")
		expect.Lacks(t, r.log.String(), "CANARY", "the log has the address: %s", r.log)
	}
	return r
}

// advance lets time pass and waits until everything that is due has happened.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestAnAlertIsSentOnceWhenItLastsAndOnceWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startEngine(t, oneTarget, nil, &world{notices: []Notice{notice("a", Warn), notice("b", Info)}}, &receiver{})
		defer r.stop()
		advance(59 * time.Second)
		expectReceived(t, "before it has lasted", r.to.received())
		advance(10 * time.Second)
		expectReceived(t, "when it has lasted; b is below the receiver's severity", r.to.received(), "a=firing")
		advance(30 * time.Minute)
		expectReceived(t, "while it goes on", r.to.received())
		advance(40 * time.Minute)
		expectReceived(t, "after the interval", r.to.received(), "a=firing")
		r.w.setNotices()
		advance(31 * time.Second)
		expectReceived(t, "before it has been gone as long", r.to.received())
		advance(90 * time.Second)
		expectReceived(t, "when it is over", r.to.received(), "a=resolved")
		advance(3 * time.Hour)
		expectReceived(t, "afterwards", r.to.received())
		if st := r.Status(); len(st.Alerts) != 0 {
			t.Errorf("the engine still follows %v", st.Alerts)
		}
	})
}

func TestShortProblemsAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startEngine(t, oneTarget, nil, &world{notices: []Notice{notice("a", Warn)}}, &receiver{})
		defer r.stop()
		for range 20 {
			advance(45 * time.Second)
			r.w.setNotices()
			advance(45 * time.Second)
			r.w.setNotices(notice("a", Warn))
		}
		expectReceived(t, "flapping below the time", r.to.received())
		advance(3 * time.Minute)
		expectReceived(t, "when it stays", r.to.received(), "a=firing")
		r.w.setNotices()
		advance(40 * time.Second)
		r.w.setNotices(notice("a", Warn))
		advance(5 * time.Minute)
		expectReceived(t, "gone for less than the time", r.to.received())
	})
}

func TestAnUncheckedRuleDoesNotResolveItsAlerts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startEngine(t, oneTarget, nil, &world{notices: []Notice{notice("a", Warn)}}, &receiver{})
		defer r.stop()
		advance(2 * time.Minute)
		expectReceived(t, "first", r.to.received(), "a=firing")
		r.w.setUnsure("jumbo")
		advance(20 * time.Minute)
		expectReceived(t, "while the rule is unsure", r.to.received())
		r.w.mu.Lock()
		r.w.err = errLost
		r.w.mu.Unlock()
		advance(20 * time.Minute)
		expectReceived(t, "while every check fails", r.to.received())
		expect.That(t, r.Status().Err != nil, "the status does not report a failed check")
		r.w.setUnsure("another")
		advance(3 * time.Minute)
		expectReceived(t, "while another rule is unsure", r.to.received(), "a=resolved")
	})
}

func TestARestartSendsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, to, w := t.TempDir(), &receiver{}, &world{notices: []Notice{notice("a", Critical)}}
		db := openStore(dir)
		r := startEngine(t, oneTarget, db, w, to)
		advance(2 * time.Minute)
		expectReceived(t, "first", to.received(), "a=firing")
		r.stop()
		_ = db.Close()

		db = openStore(dir)
		r = startEngine(t, oneTarget, db, w, to)
		advance(10 * time.Minute)
		expectReceived(t, "after a restart", to.received())
		st := r.Status()
		if len(st.Alerts) != 1 || st.Alerts[0].State != Firing || len(st.Targets) != 1 || st.Targets[0].Last.Code != "ok" {
			t.Errorf("after a restart: %+v", st)
		}
		r.stop()
		_ = db.Close()
		w.setNotices()

		db = openStore(dir)
		r = startEngine(t, oneTarget, db, w, to)
		advance(3 * time.Minute)
		expectReceived(t, "ended while no engine ran", to.received(), "a=resolved")
		if st := r.Status(); len(st.Alerts) != 0 || len(st.Over) != 1 || st.Over[0].ID != "a" || st.Over[0].Resolved.IsZero() {
			t.Errorf("after its end: %+v", st)
		}
		advance(24 * time.Hour)
		expectReceived(t, "a day after its end", to.received())
		if st := r.Status(); len(st.Over) != 0 {
			t.Errorf("a day after its end: %+v", st.Over)
		}
		r.stop()
		left, err := db.Alerts(t.Context(), "c1")
		expect.That(t, err == nil && len(left) == 0, "alerts stored after their end: %v, %v", left, err)
		_ = db.Close()
	})
}

func TestAFailingReceiverIsRetriedWithBackoffAndDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bad atomic.Int64
		to := &receiver{}
		both := roundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/bad") {
				bad.Add(1)
				return nil, errLost
			}
			return to.RoundTrip(r)
		})
		config := "for: 0s\ntargets:\n- {name: bad, format: generic, url: \"http://x.example/CANARY/bad\"}\n- {name: good, format: " +
			"generic, url: \"http://x.example/CANARY/good\"}\n"
		e := startEngine(t, config, nil, &world{notices: []Notice{notice("a", Warn)}}, both)
		defer e.stop()
		advance(time.Second)
		expectReceived(t, "the good one at once", to.received(), "a=firing")
		advance(10 * time.Minute)
		// 0, 5, 15, 35, 75, 155, 315, 615 s: then every five minutes.
		expect.Equal(t, bad.Load(), 7, "attempts in the first ten minutes")
		if st := e.Status().Targets[0]; st.Last.Failed != 7 || st.Last.Code != "network" || st.Due != 1 {
			t.Errorf("the failing receiver: %+v", st)
		}
		before := bad.Load()
		advance(50 * time.Minute)
		expect.Equal(t, bad.Load()-before, 10, "attempts in the next fifty minutes")
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRetryAfterOfABusyReceiverIsRespected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{status: 429, header: http.Header{"Retry-After": {"120"}}}
		r := startEngine(t, strings.Replace(oneTarget, "1m", "0s", 1), nil, &world{notices: []Notice{notice("a", Warn)}}, to)
		defer r.stop()
		advance(time.Second)
		to.set(func() { to.status = 0 })
		advance(110 * time.Second)
		expectReceived(t, "before Retry-After", to.received())
		advance(20 * time.Second)
		expectReceived(t, "after Retry-After", to.received(), "a=firing")
	})
}

func TestAReceiverThatDoesNotAnswerTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{hang: true}
		r := startEngine(t, strings.Replace(oneTarget, "1m", "0s", 1), nil, &world{notices: []Notice{notice("a", Warn)}}, to)
		advance(11 * time.Second)
		if st := r.Status().Targets[0]; st.Last.Code != "timeout" || st.Last.Failed != 1 {
			t.Errorf("after ten seconds: %+v", st)
		}
		r.stop()
	})
}

func TestASilenceSuppressesAlertsUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openStore(t.TempDir())
		r := startEngine(t, oneTarget, db, &world{notices: []Notice{notice("a", Warn)}}, &receiver{})
		advance(2 * time.Minute)
		expectReceived(t, "first", r.to.received(), "a=firing")
		if _, err := r.Silence(t.Context(), store.Silence{Rule: "jumbo"}, time.Hour, byAnna()); fault.Of(err) != fault.Invalid {
			t.Errorf("a silence without a reason: %v, expected a refusal", err)
		}
		if _, err := r.Silence(t.Context(), store.Silence{Rule: "jumbo", Alert: "a", Reason: "x"}, time.Hour, byAnna()); fault.Of(
			err,
		) != fault.Invalid {
			t.Errorf("a silence of a rule and an alert: %v, expected a refusal", err)
		}
		s, err := r.Silence(t.Context(), store.Silence{Rule: "jumbo", Reason: "known"}, 3*time.Hour, byAnna())
		must.That(t, err == nil && s.By == "user:anna", "%v %v", s, err)
		r.w.setNotices(notice("a", Critical), notice("b", Critical))
		advance(2*time.Hour + 50*time.Minute)
		expectReceived(t, "during the silence", r.to.received())
		advance(15 * time.Minute)
		expectReceived(t, "after the silence", r.to.received(), "a=firing", "b=firing")
		s, err = r.Silence(t.Context(), store.Silence{Alert: "a", Reason: "known"}, 24*time.Hour, byAnna())
		must.Do(t, err)
		r.w.setNotices()
		advance(3 * time.Minute)
		expectReceived(t, "the end of sent alerts is sent despite a silence", r.to.received(), "a=resolved", "b=resolved")
		must.Do(t, r.Unsilence(t.Context(), s.ID, byAnna()))
		if st := r.Status(); len(st.Silences) != 0 {
			t.Errorf("silences left: %v", st.Silences)
		}
		if err := r.Unsilence(t.Context(), s.ID, byAnna()); fault.Of(err) != fault.NotFound {
			t.Errorf("ending the silence twice: %v, expected a refusal", err)
		}
		r.stop()
		log, err := db.AuditRecords(t.Context(), 0, 10)
		if err != nil || len(log) != 3 || log[0].What != "alert.silenced" || log[0].By != "user:anna" {
			t.Errorf("the audit record has %v, %v", log, err)
		}
		_ = db.Close()
	})
}

func TestTestMessagesAreRecordedWithTheirSenderAndOutcome(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, to := openStore(dir), &receiver{}
		early := New(parseConfig(t, oneTarget), (&world{}).observe, db, Options{Transport: to})
		if _, err := early.Test(t.Context(), "ops", byAnna()); fault.Of(err) != fault.Unavailable || len(to.got) != 0 {
			t.Errorf("a test before the engine can record it: %v, expected a refusal", err)
		}
		r := startEngine(t, oneTarget, db, &world{}, to)
		advance(time.Minute)
		refused.As(t, must.Err(r.Test(t.Context(), "nobody", byAnna())), fault.NotFound, "Test")
		if d, err := r.Test(t.Context(), "ops", byAnna()); err != nil || d.Code != "ok" {
			t.Fatal(d, err)
		}
		to.set(func() { to.status = 500 })
		if d, err := r.Test(t.Context(), "ops", byAnna()); err != nil || d.Code == "ok" {
			t.Fatal(d, err)
		}
		r.stop()
		log, err := db.AuditRecords(t.Context(), 0, 10)
		must.That(t, err == nil && len(log) == 2, "the audit record has %+v, %v", log, err)
		for i, want := range []string{"ok", "failed"} {
			if e := log[i]; e.What != "alert.tested" || e.By != "user:anna" || e.Subject != "ops" || e.Cluster != "c1" || e.Outcome != want ||
				(want == "failed") != (e.Details["status"] == "500") ||
				strings.Contains(fmt.Sprint(e), "CANARY") {
				t.Errorf("%s is recorded as %+v", want, e)
			}
		}
		_ = db.Close()
	})
}

func TestOnlyAHigherSeverityIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startEngine(t, oneTarget, nil, &world{notices: []Notice{notice("a", Warn)}}, &receiver{})
		defer r.stop()
		advance(2 * time.Minute)
		expectReceived(t, "first", r.to.received(), "a=firing")
		r.w.setNotices(notice("a", Critical))
		advance(time.Minute)
		expectReceived(t, "worse", r.to.received(), "a=firing")
		r.w.setNotices(notice("a", Warn))
		advance(time.Minute)
		expectReceived(t, "better", r.to.received())
	})
}

func TestManyAlertsAreSentInMessagesOfBoundedSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var many []Notice
		for i := range 3 * maxAlerts {
			many = append(many, notice(strings.Repeat("x", 1+i/26)+string(rune('a'+i%26)), Warn))
		}
		r := startEngine(t, strings.Replace(oneTarget, "1m", "0s", 1), nil, &world{notices: many}, &receiver{})
		defer r.stop()
		advance(time.Second)
		r.to.mu.Lock()
		messages, most := len(r.to.got), 0
		for _, m := range r.to.got {
			most = max(most, len(m.Alerts))
		}
		r.to.mu.Unlock()
		if messages != maxAlerts/maxBatch || most != maxBatch || len(r.to.received()) != maxAlerts {
			t.Errorf("%d messages, at most %d alerts in one", messages, most)
		}
		expect.Equal(t, r.Status().Dropped, 2*maxAlerts, "alerts that are reported as dropped")
	})
}

func TestARepeatIntervalOfOneCheckIsSentAtEachCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		slow := roundTrip(func(r *http.Request) (*http.Response, error) {
			time.Sleep(20 * time.Millisecond) // the next check is due shortly before the interval ends
			return to.RoundTrip(r)
		})
		config := strings.Replace(oneTarget, "repeat: 1h", "repeat: 30s", 1)
		e := startEngine(t, config, nil, &world{notices: []Notice{notice("a", Warn)}}, slow)
		defer e.stop()
		advance(2*time.Minute + time.Second)
		to.received()
		advance(90 * time.Second)
		expectReceived(t, "three checks", to.received(), "a=firing", "a=firing", "a=firing")
	})
}
