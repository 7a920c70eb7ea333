package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/web/webtest"
)

// Whatever is asked for, and whatever the cluster answers, a log line is one
// line that begins with our own time, of characters that can be seen.
func TestNothingHostileForgesALogLine(t *testing.T) {
	s := webtest.New(t)
	said := ""
	for _, p := range payloads(t) {
		for _, found := range []func() error{
			func() error { return errors.New("(BadValue) the server says " + p) },
			func() error { return fault.Wrap(fault.Unavailable, errors.New(p), "The cluster said %s.", p) },
			func() error { panic(p) },
			func() error { panic(errors.New(p)) },
		} {
			s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return nil, found() }
			s.Do("GET", "/api/v1/locate?q=x")
		}
		s.Do("GET", "/api/"+url.PathEscape(p))
		s.Do("GET", "/api/v1/shards/"+url.PathEscape(p))
		s.Do("GET", "/api/", func(r *http.Request) {
			r.URL.Path, r.URL.RawPath = "/api/"+p, ""
			r.Method = p
			r.Header["Origin"], r.Header["User-Agent"], r.Header["Referer"] = nil, []string{p}, []string{p}
		})
		log := s.Log.String()
		s.Log.Reset()
		if strings.Count(log, "\n") < 7 {
			t.Fatalf("%q: too little is logged: %s", p, log)
		}
		for line := range strings.Lines(log) {
			line = strings.TrimSuffix(line, "\n")
			if bad := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); !strings.HasPrefix(line, "time=") || bad >= 0 {
				t.Errorf("%q makes the line %q", p, line)
			}
			if n := strings.Count(line, " level="); n > 1 && !strings.Contains(p, "level=") {
				t.Errorf("%q makes the line %q", p, line)
			}
		}
		said += log
	}
	if !strings.Contains(said, "the server says <script>alert(1)</script>") || !strings.Contains(said, `\u202e`) {
		t.Error("the causes are not in the log")
	}
}
