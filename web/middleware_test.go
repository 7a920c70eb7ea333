package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shardboard/internal/auth"
	"shardboard/internal/placement"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

var ownHosts = []string{
	"localhost", "localhost:8090", "LOCALHOST:8090", "127.0.0.1", "127.0.0.1:1", "127.8.9.10:65535", "[::1]", "[::1]:8090",
	"board.example", "BOARD.example:443", "other.example:9999",
}

var foreignHosts = []string{
	"", " ", ":", ":8090", "evil.example", "evil.example:8090", "localhost.evil.example", "evil-localhost", "localhost.", "localhost.:8090",
	"foo.localhost", "127.0.0.1.evil.example", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0177.0.0.1",
	"127.0.0.256", "0.0.0.0", "0.0.0.0:8090",
	"[::]", "[::ffff:127.0.0.1]:8090", "[::1%25eth0]", "[::1%eth0]", "[::1", "::1", "::1]:80", "[127.0.0.1]:80", "[::1]8090",
	"[::1]:", "10.0.0.1", "192.168.0.1:8090",
	"localhost:", "localhost:0", "localhost:080", "localhost:99999", "localhost:80:80", "localhost:-1", "localhost:http",
	"localhost@evil.example", "evil.example@localhost",
	"localhost/evil", "localhost\\evil", "localhost#", "localhost?", "localhost,evil.example", "localhost evil.example", "ⓛocalhost",
	"lоcalhost", "128.0.0.1", "126.255.255.255",
	"board.example.evil.example", "evilboard.example", "other.example", "other.example:9998", "*", "null", "%6cocalhost",
}

func withHosts(d *site.Deps) { d.Hosts = []string{"board.example", "other.example:9999"} }

func TestOnlyLoopbackAndConfiguredHostsAreAnswered(t *testing.T) {
	s := webtest.New(t, withHosts)
	for _, host := range ownHosts {
		if w := s.Do("GET", "/healthz", func(r *http.Request) { r.Host = host }); w.Code != http.StatusOK {
			t.Errorf("host %q: %d", host, w.Code)
		}
	}
	if len(foreignHosts) < 30 {
		t.Fatal("too few hosts")
	}
	for _, host := range foreignHosts {
		for _, address := range []string{"/", "/api/v1/cluster", "/live?t=overview", "/healthz", "/metrics", "/nothing"} {
			w := s.Do("GET", address, func(r *http.Request) { r.Host = host })
			if w.Code != http.StatusMisdirectedRequest {
				t.Errorf("host %q at %s: %d", host, address, w.Code)
			}
			if strings.Contains(w.Body.String(), "mongos.example") || strings.Contains(w.Body.String(), "shard-rs") {
				t.Errorf("host %q at %s sees the cluster", host, address)
			}
		}
	}
}

var foreignOrigins = []string{
	"", "null", "https://evil.example", "http://evil.example", "http://localhost", "http://localhost:8091", "https://localhost:8090",
	"http://127.0.0.1:8090",
	"http://[::1]:8090", "http://localhost:8090/", "http://localhost:8090/live", "http://localhost:8090.evil.example",
	"http://localhost:8090@evil.example",
	"http://evil.example@localhost:8090", "http://localhost:80900", "http://localhost:08090", "HTTP://localhost:8090",
	"http://LOCALHOST:8090", "http:localhost:8090",
	"//localhost:8090", "localhost:8090", "ws://localhost:8090", "file://", "file:///localhost:8090", "http://sub.localhost:8090",
	"http://localhost.:8090",
	"http://localhost:8090 ", " http://localhost:8090", "http://localhost:8090,http://evil.example",
	"http://localhost:8090 http://evil.example",
	"chrome-extension://localhost:8090", "http://localhost%3a8090", "http://localhost:8090#", "http://localhost:8090?x",
	"data:text/html,x", "http://", "http://:8090",
}

func TestSocketsOfOtherOriginsAreRefusedBeforeAnythingElse(t *testing.T) {
	s := webtest.New(t)
	if len(foreignOrigins) < 30 {
		t.Fatal("too few origins")
	}
	for _, origin := range foreignOrigins {
		// The topic does not exist and there is no upgrade: neither is looked at.
		if w := s.Do("GET", "/live?t=none", webtest.Header("Origin", origin)); w.Code != http.StatusForbidden {
			t.Errorf("origin %q: %d", origin, w.Code)
		}
	}
	for _, address := range []string{"/", "/nothing", "/api/v1/cluster", "/live?t=%zz", "/live?t=" + strings.Repeat("x", 9000)} {
		if w := s.Do("GET", address, webtest.Header("Origin", "https://evil.example"),
			webtest.Header("Upgrade", "WebSocket")); w.Code != http.StatusForbidden {
			t.Errorf("upgrade at %.30s: %d", address, w.Code)
		}
	}
	twice := func(r *http.Request) { r.Header["Origin"] = []string{"http://localhost:8090", "http://localhost:8090"} }
	if w := s.Do("GET", "/live?t=overview", twice); w.Code != http.StatusForbidden {
		t.Errorf("two origins: %d", w.Code)
	}
	for _, own := range []func(*http.Request){webtest.Header("Origin", "http://localhost:8090"), func(*http.Request) {}} {
		if w := s.Do("GET", "/live?t=overview", own); w.Code != http.StatusUpgradeRequired {
			t.Errorf("own origin: %d", w.Code)
		}
	}
}

func TestConfiguredHostMayBeBehindTLS(t *testing.T) {
	s := webtest.New(t, withHosts)
	for origin, want := range map[string]bool{
		"https://board.example": true, "http://board.example": true, "https://board.example:443": false, "https://other.example": false,
		"ftp://board.example": false,
	} {
		r := httptest.NewRequest("GET", "/live", nil)
		r.Host = "board.example"
		r.Header.Set("Origin", origin)
		if got := s.Guard.OriginAllowed(r); got != want {
			t.Errorf("%s: %v", origin, got)
		}
	}
}

func TestCrossSitePostsAreRefusedEvenToUnknownPaths(t *testing.T) {
	s := webtest.New(t)
	for _, address := range []string{"/api/v1/locate", "/nothing", "/"} {
		for _, h := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
			{"Origin", "https://evil.example"}, {"Origin", "null"}} {
			if w := s.Do("POST", address, webtest.Header(h[0], h[1])); w.Code != http.StatusForbidden {
				t.Errorf("%s with %s: %d", address, h, w.Code)
			}
		}
	}
}

func TestPanicBecomesAnErrorPageWithoutInternals(t *testing.T) {
	s := webtest.New(t)
	s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { panic("secret internals\r\nforged line") }
	for _, address := range []string{"/api/v1/locate?q=x", "/locate?q=x"} {
		w := s.Do("GET", address)
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", address, w.Code, w.Body)
		}
	}
	if log := s.Log.String(); !strings.Contains(log, "secret internals") || strings.Contains(log, "\nforged") {
		t.Errorf("log: %s", log)
	}
}

func TestTheLogSaysWhoByIDAndNeverBySecret(t *testing.T) {
	door := webtest.NewDoor(t)
	door.Ask(door.Handler(), "GET", "/zones", door.With("viewer"))
	door.Ask(door.Handler(), "GET", "/settings/users", door.With("viewer")) // refused, and by whom
	door.Ask(door.Handler(), "GET", "/api/v1/nothing", door.With("viewer"))
	door.Ask(door.Handler(), "GET", "/zones")
	door.Ask(door.Handler(), "GET", "/zones", func(r *http.Request) { r.Header.Set("Authorization", "Bearer sb_secret") })
	door.Ask(door.Handler(), "GET", "/static/none.css", door.With("viewer"))
	log := door.Log.String()
	id := door.Principal("viewer").ID
	for _, want := range []string{
		`who=` + id + ` method=GET path=/zones status=200`, `who=` + id + ` method=GET path=/settings/users status=403`,
		`who=` + id + ` method=GET path=/api/v1/nothing status=404`,
		`who=- method=GET path=/zones status=303`, `who=- method=POST path=/login status=303`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no line %q", want)
		}
	}
	for _, secret := range []string{door.Cookies["viewer"].Value, "sb_secret", webtest.GoodPassword, "session"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "msg=request ") && !strings.Contains(line, " who=") {
			t.Errorf("no who in %q", line)
		}
	}
	s := webtest.New(t, webtest.WithClaims) // ids that somebody else gave out
	s.Do("GET", "/zones", webtest.As("a\u202e=b\nlevel=ERROR who=root", auth.Viewer))
	if line := s.Log.String(); strings.Count(line, "\n") != 1 || strings.Contains(line, "\u202e") ||
		!strings.Contains(line, `who="user:a\\u202e=b\\nlevel=ERROR`) {
		t.Errorf("a hostile id makes the line %q", line)
	}
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
	log := s.Log.String()
	if strings.Contains(log, "customer-secret") {
		t.Errorf("a query is in the log:\n%s", log)
	}
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "time=") || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\n\x7f\u202e") {
			t.Errorf("forged line %q", line)
		}
	}
	if !strings.Contains(log, `path="/shards/a%0d%0alevel=ERROR%20msg=forged%E2%80%AE" status=404`) {
		t.Errorf("paths are missing:\n%s", log)
	}
}
