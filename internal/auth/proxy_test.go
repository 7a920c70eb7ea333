package auth

import (
	"fmt"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
)

func withProxy(o *Options) {
	o.Mode = ModeProxy
	o.Proxy = ProxyOptions{
		Header: "X-Forwarded-User",
		CIDRs:  []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2001:db8:1::/64")},
	}
	o.Forwarded = o.Proxy.CIDRs
}

func TestTheProxysHeaderIsTrustedFromTheProxyOnly(t *testing.T) {
	h := newFixture(t, withProxy)
	for _, from := range []string{"10.1.2.3", "2001:db8:1::7", "::ffff:10.1.2.3"} {
		p, err := h.Identify(httptest.NewRecorder(), newRequest(from, nil, "X-Forwarded-User", "anna"))
		if err != nil || p.ID != "proxy:anna" || p.Role != Viewer || p.Method != ByProxy {
			t.Errorf("%s: unexpected principal %+v, error %v", from, p, err)
		}
		if h.Check(t.Context(), p) != nil || endKey(p) != "" {
			t.Errorf("%s: a session of the proxy can be ended", from)
		}
	}
	if n := len(h.auditRecords(t, auditSignIn)); n != 1 {
		t.Errorf("one person has %d sign-ins", n)
	}
	for range 3 {
		for _, from := range []string{"10.2.0.1", "127.0.0.1", "::1", "2001:db8:2::1"} {
			p, err := h.Identify(
				httptest.NewRecorder(),
				newRequest(from, nil, "X-Forwarded-User", "anna", "X-Forwarded-For", "10.1.2.3", "X-Real-IP", "10.1.2.3", "Forwarded", "for=10.1.2.3"),
			)
			expectAnonymous(t, from, p, err)
		}
	}
	h.o.Refusals.Flush()
	spoofed := h.auditRecords(t, auditSpoofed)
	if n := countAttempts(t, spoofed); n != 3*4 || len(spoofed) != 2 || spoofed[0].From != "10.2.0.1" ||
		!strings.Contains(spoofed[1].Details["examples"], "2001:db8:2::1") {
		t.Errorf("%d are recorded: %+v", n, spoofed)
	}
	h.advance(proxySignInInterval)
	_, _ = h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna"))
	expect.Equal(t, len(h.auditRecords(t, auditSignIn)), 2, "the next day's sign-in is not recorded")
}

// Anonymous requests must not keep a sign-in from being recorded.
func TestSpoofedHeadersDoNotHideProxySignIns(t *testing.T) {
	h := newFixture(t, withProxy)
	for i := range maxRecentSignIns + 1 {
		_, _ = h.Identify(httptest.NewRecorder(), newRequest(fmt.Sprintf("198.51.%d.%d", i>>8, i&255), nil, "X-Forwarded-User", "anna"))
	}
	if _, err := h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna")); err != nil {
		t.Fatal(err)
	}
	expect.Equal(t, len(h.auditRecords(t, auditSignIn)), 1, "sign-ins are recorded")
}

func TestTheProxysHeaderMustHaveOneValidName(t *testing.T) {
	h := newFixture(t, withProxy)
	for _, names := range [][]string{{""}, {"anna", "root"}, {" anna"}, {"a\u202eb"}, {"a\tb"}, {"\xff"}, {strings.Repeat("a", 201)}} {
		r := newRequest("10.1.2.3", nil)
		for _, n := range names {
			r.Header.Add("X-Forwarded-User", n)
		}
		p, err := h.Identify(httptest.NewRecorder(), r)
		expectAnonymous(t, strings.Join(names, " and "), p, err)
	}
}

func TestBasicAuthMeantForTheProxyIsIgnored(t *testing.T) {
	h := newFixture(t, withProxy)
	p, err := h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "Authorization", "Basic YTpi"))
	if err != nil || p.ID != "proxy:anna" {
		t.Errorf("unexpected principal %+v, error %v", p, err)
	}
	p, err = h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "Authorization", "Bearer sb_x"))
	expectAnonymous(t, "a wrong token", p, err)
	p, err = h.Identify(httptest.NewRecorder(), newRequest("10.9.2.3", nil, "X-Forwarded-User", "anna", "Authorization", "Basic YTpi"))
	expectAnonymous(t, "from elsewhere", p, err)
}

func TestTheProxysRoleMustBeValid(t *testing.T) {
	h := newFixture(t, withProxy, func(o *Options) { o.Proxy.RoleHeader = "X-Role" })
	for role, want := range map[string]Role{"admin": Admin, "viewer": Viewer, "root": "", "": "", "Admin": ""} {
		p, err := h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "X-Role", role))
		if p.Role != want || (want == "") != (err != nil) {
			t.Errorf("%q: unexpected principal %+v, error %v", role, p, err)
		}
	}
	p, err := h.Identify(
		httptest.NewRecorder(),
		newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "X-Role", "viewer", "X-Role", "admin"),
	)
	expectAnonymous(t, "two roles", p, err)
	p, err = h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna"))
	expectAnonymous(t, "no role", p, err)
}

func TestTheProxysHeaderIsIgnoredWithoutProxyMode(t *testing.T) {
	h := newFixture(t)
	p, err := h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "Remote-User", "anna"))
	expectAnonymous(t, "a header", p, err)
}

func TestTheClientAddressComesFromKnownProxies(t *testing.T) {
	h := newFixture(t, withProxy)
	for _, tc := range []struct{ remote, forwarded, want string }{
		{"192.0.2.7", "", "192.0.2.7"},
		{"192.0.2.7", "1.2.3.4", "192.0.2.7"},
		{"10.1.2.3", "198.51.100.1", "198.51.100.1"},
		{"10.1.2.3", "1.2.3.4, 198.51.100.1", "198.51.100.1"},
		{"10.1.2.3", "1.2.3.4, 198.51.100.1, 10.1.9.9", "198.51.100.1"},
		{"10.1.2.3", "nonsense", "10.1.2.3"},
		{"10.1.2.3", "1.2.3.4, nonsense", "10.1.2.3"},
		{"10.1.2.3", "", "10.1.2.3"},
		{"10.1.2.3", "::ffff:198.51.100.1", "198.51.100.1"},
	} {
		r := newRequest(tc.remote, nil)
		if tc.forwarded != "" {
			r.Header.Set("X-Forwarded-For", tc.forwarded)
		}
		expect.Equal(t, h.ClientAddr(r), tc.want, "%s with %q", tc.remote, tc.forwarded)
	}
	r := newRequest("10.1.2.3", nil)
	r.RemoteAddr = "@"
	if got := h.ClientAddr(r); got != "" {
		t.Error(got)
	}
}

func TestTheNumberOfRecentSignInsIsBounded(t *testing.T) {
	s := newRecentSignIns()
	now := time.Now()
	for i := range maxRecentSignIns + 10 {
		s.first(string(rune('a'+i%26))+time.Duration(i).String(), now)
	}
	if s.last.Len() > maxRecentSignIns {
		t.Error(s.last.Len())
	}
	if !s.first("later", now) || s.first("later", now) {
		t.Error("a new sign-in is not recorded exactly once")
	}
	if !s.first("later", now.Add(-24*time.Hour)) {
		t.Error("after the clock was set back, a sign-in is not recorded for a day")
	}
}
