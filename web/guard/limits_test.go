package guard_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestRateLimitTellsWhenToRetry(t *testing.T) {
	now := webtest.Epoch
	s := webtest.New(t, webtest.WithPeople, func(d *site.Deps) { d.Now = func() time.Time { return now } })
	for _, c := range []struct {
		method, address string
		burst           int
		refill          time.Duration // for one more
	}{
		{"GET", "/api/v1/locate?q=x", guard.LocateBurst, 20 * time.Millisecond},
		{"POST", "/api/v1/checks/duplicates/stop", guard.ActionBurst, 500 * time.Millisecond},
	} {
		ask := func(name string) int {
			w := s.Do(c.method, c.address, webtest.As(name, auth.Operator))
			if w.Code == http.StatusTooManyRequests {
				n, err := strconv.Atoi(w.Header().Get("Retry-After"))
				expect.That(t, err == nil && n >= 1 && w.Header().Get("Content-Type") == "application/problem+json",
					"%s: %v", c.address, w.Header())
			}
			return w.Code
		}
		for i := range c.burst {
			must.That(t, ask("anna") != http.StatusTooManyRequests, "%s: refused at %d", c.address, i)
		}
		for range 3 {
			expect.Equal(t, ask("anna"), http.StatusTooManyRequests, "%s: one too many", c.address)
		}
		expect.That(t, ask("berta") != http.StatusTooManyRequests, "%s: another waits too", c.address)
		now = now.Add(c.refill)
		expect.That(t, ask("anna") != http.StatusTooManyRequests, "%s: still refused after %s", c.address, c.refill)
		expect.Equal(t, ask("anna"), http.StatusTooManyRequests, "%s: two let in after %s", c.address, c.refill)
	}
	expect.Equal(t, s.Do("GET", "/collections", webtest.As("anna", auth.Operator)).Code, http.StatusOK, "reading waits too")
}

func TestRateLimitsRememberABoundedNumberOfPeople(t *testing.T) {
	only.Long(t, "asks for every page")
	now := webtest.Epoch
	l := guard.NewLimits(func() time.Time { return now })
	rt := guard.Rule{Method: "GET", Policy: guard.PolicyLocate}
	busy := auth.Principal{ID: "user:busy", Role: auth.Admin, Method: auth.ByPassword}
	for i := range 3 * guard.MaxCounted {
		now = now.Add(time.Microsecond)
		l.Wait(auth.Principal{ID: fmt.Sprint("token:", i), Role: auth.Support, Method: auth.ByToken}, rt)
		l.Wait(busy, rt)
	}
	expect.That(t, l.Each.Len() <= guard.MaxCounted, "%d remembered", l.Each.Len())
	expect.That(t, l.Wait(busy, rt) != 0, "who is busy was forgotten")
}

func TestRateLimitSurvivesAClockThatIsSetBack(t *testing.T) {
	at := webtest.Epoch
	l := guard.NewLimits(func() time.Time { return at })
	who, rt := auth.Principal{ID: "user:anna"}, guard.Rule{Method: "POST", Policy: guard.PolicyOperate}
	for _, step := range []time.Duration{0, -24 * time.Hour, 24 * time.Hour} {
		at = at.Add(step)
		for range 2 * guard.ActionBurst {
			wait := l.Wait(who, rt)
			must.That(t, wait <= time.Second, "set by %s: wait %s", step, wait)
		}
		at = at.Add(time.Minute)
		wait := l.Wait(who, rt)
		expect.That(t, wait <= 0, "set by %s: wait %s a minute later", step, wait)
	}
}
