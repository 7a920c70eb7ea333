package site_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/placement"
	"shardboard/web/webtest"
)

func TestTheLogSaysWhoByIDAndNeverBySecret(t *testing.T) {
	door := webtest.NewAccountServer(t)
	door.Ask(door.Handler(), "GET", "/zones", door.With("viewer"))
	door.Ask(door.Handler(), "GET", "/settings/users", door.With("viewer")) // refused, and by whom
	door.Ask(door.Handler(), "GET", "/api/v1/nothing", door.With("viewer"))
	door.Ask(door.Handler(), "GET", "/zones")
	door.Ask(door.Handler(), "GET", "/zones", func(r *http.Request) { r.Header.Set("Authorization", "Bearer sb_secret") })
	door.Ask(door.Handler(), "GET", "/static/none.css", door.With("viewer"))
	log := door.Log.String()
	id := door.Principal("viewer").ID
	expect.ContainsAll(t, log, []string{
		`who=` + id + ` method=GET path=/zones status=200`, `who=` + id + ` method=GET path=/settings/users status=403`,
		`who=` + id + ` method=GET path=/api/v1/nothing status=404`,
		`who=- method=GET path=/zones status=303`, `who=- method=POST path=/login status=303`,
	}, "the log")
	expect.LacksAll(t, log, []string{door.Cookies["viewer"].Value, "sb_secret", webtest.GoodPassword, "session"}, "the log")
	for line := range strings.Lines(log) {
		expect.That(t, !strings.Contains(line, "msg=request ") || strings.Contains(line, " who="), "no who in %q", line)
	}
	s := webtest.New(t, webtest.WithPeople) // ids that somebody else gave out
	s.Do("GET", "/zones", webtest.As("a\u202e=b\nlevel=ERROR who=root", auth.Viewer))
	line := s.Log.String()
	expect.That(t, strings.Count(line, "\n") == 1 && !strings.Contains(line, "\u202e") &&
		strings.Contains(line, `who="user:a\\u202e=b\\nlevel=ERROR`), "a hostile id makes the line %q", line)
}

func TestLogHasNoQueriesAndNoForgedLines(t *testing.T) {
	s := webtest.New(t)
	for _, address := range []string{"/locate?q=customer-secret", "/api/v1/locate?q=customer-secret", "/projects?q=customer-secret",
		"/live?t=customer-secret", "/nothing?customer-secret"} {
		s.Do("GET", address)
	}
	s.Do("POST", "/api/v1/locate", webtest.Body("customer-secret"))
	s.Do("GET", "/shards/a%0d%0alevel=ERROR%20msg=forged%E2%80%AE")
	s.Do("GET", "/", func(r *http.Request) { r.Method = "GE\x7fT" })
	const said = "the server says <b>\u202e\nlevel=ERROR\r\x1b[31m"
	for _, found := range []func() error{
		func() error { return errors.New(said) }, func() error { return fault.Wrap(fault.Unavailable, errors.New(said), "It said %s.", said) },
		func() error { panic(said) }, func() error { panic(errors.New(said)) },
	} {
		s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return nil, found() }
		s.Do("GET", "/api/v1/locate?q=x")
	}
	log := s.Log.String()
	expect.Lacks(t, log, "customer-secret", "a query is in the log")
	for line := range strings.Lines(log) {
		expect.That(t, strings.HasPrefix(line, "time=") && !strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\n\x7f\u202e\x1b"),
			"forged line %q", line)
	}
	expect.That(t, strings.Count(log, "the server says <b>") >= 4, "causes are missing:\n%s", log)
	expect.Contains(t, log, `path="/shards/a%0d%0alevel=ERROR%20msg=forged%E2%80%AE" status=404`, "paths are missing")
}
