package guard_test

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestLogLinesOfAnonymousRequestsAreLimited(t *testing.T) {
	at := webtest.Epoch
	s := webtest.New(t, webtest.WithPeople, func(d *site.Deps) { d.Now = func() time.Time { return at } })
	const flood = 5000
	for i := range flood {
		if i == flood-1 {
			at = at.Add(time.Second)
		}
		s.Do("GET", "/api/v1/me")
	}
	for range 50 {
		s.Do("GET", "/api/v1/me", webtest.As("vera", auth.Viewer))
	}
	nobodys, people, leftOut := 0, 0, 0
	for line := range strings.Lines(s.Log.String()) {
		switch {
		case strings.Contains(line, "msg=request who=-"):
			nobodys++
		case strings.Contains(line, "msg=request who=user:vera"):
			people++
		}
		if n := regexp.MustCompile(`left_out=(\d+)`).FindStringSubmatch(line); n != nil {
			more, _ := strconv.Atoi(n[1])
			leftOut += more
		}
	}
	expect.That(t, nobodys <= guard.NobodyLines+2 && nobodys+leftOut == flood && people == 50,
		"%d lines of nobody and %d left out, %d of people", nobodys, leftOut, people)
}

// While the store fails, each request that comes with a cookie is a failed one.
func TestLogLinesOfAnonymousFailuresAreLimited(t *testing.T) {
	broken := (&store.Trouble{Code: store.TroubleDamaged}).Failed(errors.New("malformed"))
	s := webtest.New(t, func(d *site.Deps) { d.Access.Auth = webtest.StubAuth{SignInMode: auth.ModeLocal, Lost: broken} })
	for range 3 * guard.NobodyLines {
		if w := s.Do("GET", "/api/v1/me"); w.Code != http.StatusServiceUnavailable {
			t.Fatal(w.Code, w.Body)
		}
	}
	n := strings.Count(s.Log.String(), "\n")
	expect.That(t, n <= guard.NobodyLines+2 && strings.Contains(s.Log.String(), "malformed"), "%d lines", n)
}
