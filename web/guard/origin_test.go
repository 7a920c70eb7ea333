package guard_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestSocketsOfOtherOriginsAreRefusedBeforeAnythingElse(t *testing.T) {
	s := webtest.New(t)
	must.That(t, len(webtest.ForeignOrigins) >= 30, "too few origins")
	for _, origin := range webtest.ForeignOrigins {
		// The topic does not exist and there is no upgrade: neither is looked at.
		expect.Equal(t, s.Do("GET", "/live?t=none", webtest.Header("Origin", origin)).Code, http.StatusForbidden, "origin %q", origin)
	}
	for _, address := range []string{"/", "/nothing", "/api/v1/cluster", "/live?t=%zz", "/live?t=" + strings.Repeat("x", 9000)} {
		w := s.Do("GET", address, webtest.Header("Origin", "https://evil.example"),
			webtest.Header("Upgrade", "WebSocket"))
		expect.Equal(t, w.Code, http.StatusForbidden, "upgrade at %.30s", address)
	}
	twice := func(r *http.Request) { r.Header["Origin"] = []string{"http://localhost:8090", "http://localhost:8090"} }
	expect.Equal(t, s.Do("GET", "/live?t=overview", twice).Code, http.StatusForbidden, "two origins")
	for _, own := range []func(*http.Request){webtest.Header("Origin", "http://localhost:8090"), func(*http.Request) {}} {
		expect.Equal(t, s.Do("GET", "/live?t=overview", own).Code, http.StatusUpgradeRequired, "own origin")
	}
}

// originCase is a request with an Origin to a server that is known by a name.
type originCase struct {
	tls    bool // browsers come over https
	own    bool // this connection is TLS of our own
	host   string
	origin string
	ours   bool
}

// Where browsers come over https, the same host over http is another site:
// whoever is on the way can put any page there.
func originCases() []originCase {
	return []originCase{
		// A proxy does TLS.
		{true, false, "board.example", "https://board.example", true},
		{true, false, "board.example", "http://board.example", false},
		{true, false, "board.example", "null", false},
		{true, false, "board.example", "", false},
		{true, false, "board.example", "https://board.example:443", false}, // browsers leave the usual port out
		{true, false, "board.example", "http://board.example:443", false},
		{true, false, "board.example", "https://board.example:8443", false},
		{true, false, "board.example", "http://board.example:80", false},
		{true, false, "board.example", "https://BOARD.example", false}, // browsers write it small
		{true, false, "board.example", "HTTPS://board.example", false},
		{true, false, "board.example", "http://BOARD.EXAMPLE", false},
		{true, false, "board.example", "https://board.example.", false},
		{true, false, "board.example", "http://board.example.", false},
		{true, false, "board.example", "https://board.example/", false},
		{true, false, "board.example", "wss://board.example", false},
		{true, false, "board.example", "https://other.example", false},
		{true, false, "board.example", "https://sub.board.example", false},
		{true, false, "board.example:8443", "https://board.example:8443", true},
		{true, false, "board.example:8443", "http://board.example:8443", false},
		{true, false, "board.example:8443", "https://board.example", false},
		{true, false, "board.example:443", "http://board.example", false},
		{true, false, "BOARD.example", "http://board.example", false},
		// TLS of our own.
		{true, true, "board.example", "https://board.example", true},
		{true, true, "board.example", "http://board.example", false},
		{true, true, "localhost:8090", "https://localhost:8090", true},
		{true, true, "localhost:8090", "http://localhost:8090", false},
		// Plain http on this machine stays as it is, also beside a proxy.
		{true, false, "localhost:8090", "http://localhost:8090", true},
		{true, false, "127.0.0.1:8090", "http://127.0.0.1:8090", true},
		{true, false, "[::1]:8090", "http://[::1]:8090", true},
		{true, false, "localhost:8090", "https://localhost:8090", false},
		{false, false, "localhost:8090", "http://localhost:8090", true},
		{false, false, "localhost:8090", "https://localhost:8090", false},
		{false, false, "localhost:8090", "null", false},
		{false, false, "localhost:8090", "http://LOCALHOST:8090", false},
		{false, false, "localhost:8090", "http://localhost.:8090", false},
		// A name without TLS that we know of, such as a tunnel's.
		{false, false, "board.example", "http://board.example", true},
		{false, false, "board.example", "https://board.example", true},
	}
}

func (c originCase) ask(s *webtest.Server, method, address string) int {
	r := httptest.NewRequest(method, address, nil)
	r.Host, r.TLS = c.host, nil
	if c.own {
		r.TLS = &tls.ConnectionState{}
	}
	r.Header["Origin"] = []string{c.origin}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w.Code
}

func TestOriginHasToComeBySchemeThatBrowsersUse(t *testing.T) {
	sites := map[bool]*webtest.Server{}
	for _, tls := range []bool{true, false} {
		sites[tls] = webtest.New(t, func(d *site.Deps) { d.Access.Hosts, d.Access.TLS = []string{"board.example"}, tls })
	}
	for _, c := range originCases() {
		s := sites[c.tls]
		post, socket := http.StatusForbidden, http.StatusForbidden
		if c.ours { // both get past the check, to where there is nothing
			post, socket = http.StatusNotFound, http.StatusUpgradeRequired
		}
		expect.Equal(t, c.ask(s, "POST", "/nothing"), post, "%+v: a form", c)
		expect.Equal(t, c.ask(s, "GET", "/live?t=overview"), socket, "%+v: a socket", c)
	}
}

// An Origin that is not ours is refused whatever Sec-Fetch-Site says beside it;
// null is what browsers send with our own forms, whose pages have no referrer.
func TestForeignOriginIsRefusedBesideSecFetchSite(t *testing.T) {
	s := webtest.New(t, func(d *site.Deps) { d.Access.Hosts, d.Access.TLS = []string{"board.example"}, true })
	for origin, want := range map[string]int{"http://board.example": http.StatusForbidden, "https://evil.example": http.StatusForbidden,
		"https://board.example": http.StatusNotFound, "null": http.StatusNotFound} {
		w := s.Do(
			"POST",
			"/nothing",
			func(r *http.Request) { r.Host = "board.example" },
			webtest.Header("Origin", origin),
			webtest.Header("Sec-Fetch-Site", "same-origin"),
		)
		expect.Equal(t, w.Code, want, "%s", origin)
	}
}
