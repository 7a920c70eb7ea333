package auth

import (
	"fmt"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/store/sqlite"
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
		expect.That(t, h.Check(t.Context(), p) == nil && endKey(p) == "", "%s: a session of the proxy can be ended", from)
	}
	if n := len(h.auditRecords(t, auditSignIn)); n != 1 {
		t.Errorf("one person has %d sign-ins", n)
	}
	for range 3 {
		for _, from := range []string{"10.2.0.1", "127.0.0.1", "::1", "2001:db8:2::1"} {
			p, err := h.Identify(httptest.NewRecorder(), newRequest(from, nil, "X-Forwarded-User", "anna",
				"X-Forwarded-For", "10.1.2.3", "X-Real-IP", "10.1.2.3", "Forwarded", "for=10.1.2.3"))
			expectAnonymous(t, from)(p, err)
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
	must.Do(t, must.Err(h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna"))))
	expect.Equal(t, len(h.auditRecords(t, auditSignIn)), 1, "sign-ins are recorded")
}

func TestTheProxysHeaderMustHaveOneValidName(t *testing.T) {
	h := newFixture(t, withProxy)
	for _, names := range [][]string{{""}, {"anna", "root"}, {" anna"}, {"a\u202eb"}, {"a\tb"}, {"\xff"}, {strings.Repeat("a", 201)}} {
		r := newRequest("10.1.2.3", nil)
		for _, n := range names {
			r.Header.Add("X-Forwarded-User", n)
		}
		expectAnonymous(t, strings.Join(names, " and "))(h.Identify(httptest.NewRecorder(), r))
	}
}

func TestBasicAuthMeantForTheProxyIsIgnored(t *testing.T) {
	h := newFixture(t, withProxy)
	p, err := h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "Authorization", "Basic YTpi"))
	expect.That(t, err == nil && p.ID == "proxy:anna", "unexpected principal %+v, error %v", p, err)
	expectAnonymous(t, "a wrong token")(h.Identify(httptest.NewRecorder(),
		newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "Authorization", "Bearer sb_x")))
	expectAnonymous(t, "from elsewhere")(h.Identify(httptest.NewRecorder(),
		newRequest("10.9.2.3", nil, "X-Forwarded-User", "anna", "Authorization", "Basic YTpi")))
}

func TestTheProxysRoleMustBeValid(t *testing.T) {
	h := newFixture(t, withProxy, func(o *Options) { o.Proxy.RoleHeader = "X-Role" })
	for role, want := range map[string]Role{"admin": Admin, "viewer": Viewer, "root": "", "": "", "Admin": ""} {
		p, err := h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "X-Role", role))
		expect.That(t, p.Role == want && (want == "") == (err != nil), "%q: unexpected principal %+v, error %v", role, p, err)
	}
	p, err := h.Identify(httptest.NewRecorder(), newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "X-Role",
		"viewer", "X-Role", "admin"))
	expectAnonymous(t, "two roles")(p, err)
	expectAnonymous(t, "no role")(h.Identify(httptest.NewRecorder(),
		newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna")))
}

func TestTheProxysHeaderIsIgnoredWithoutProxyMode(t *testing.T) {
	h := newFixture(t)
	expectAnonymous(t, "a header")(h.Identify(httptest.NewRecorder(),
		newRequest("10.1.2.3", nil, "X-Forwarded-User", "anna", "Remote-User", "anna")))
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
	expect.That(t, s.last.Len() <= maxRecentSignIns, "%v", s.last.Len())
	expect.That(t, s.first("later", now) && !s.first("later", now), "a new sign-in is not recorded exactly once")
	if !s.first("later", now.Add(-24*time.Hour)) {
		t.Error("after the clock was set back, a sign-in is not recorded for a day")
	}
}

func TestProxyNetworksThatAreTooWideAreRejected(t *testing.T) {
	for _, wide := range []string{"0.0.0.0/0", "::/0", "0.0.0.0/1", "128.0.0.0/1", "64.0.0.0/7", "8000::/1", "2000::/3", "2a00::/12",
		"::ffff:0.0.0.0/96", "::ffff:128.0.0.0/97", "fc00::/6", "fe00::/9"} {
		refused.As(t, must.Err(ParseProxy(wide)), fault.Invalid, "%s", wide)
	}
	for _, none := range []string{"", "proxy", "10.0.0.0/99", "10.0.0", "fe80::1%eth0", "10.0.0.1:80"} {
		refused.As(t, must.Err(ParseProxy(none)), fault.Invalid, "%s", none)
	}
	for text, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "10.1.2.3/16": "10.1.0.0/16", "192.0.2.7": "192.0.2.7/32", "2001:db8::1": "2001:db8::1/128",
		"2001:db8::/32": "2001:db8::/32",
		"fc00::/7":      "fc00::/7", "fd00::/8": "fd00::/8", "fe80::/10": "fe80::/10", "::1": "::1/128",
		"::ffff:10.1.2.3": "10.1.2.3/32", "::ffff:10.1.0.0/112": "10.1.0.0/16", // connections are known by the IPv4 address
	} {
		p, err := ParseProxy(text)
		expect.That(t, err == nil && p.String() == want, "%s: %s, %v; want %s", text, p, err, want)
	}
}

func TestReservedHeadersCannotIdentifyUsers(t *testing.T) {
	db := must.Get(sqlite.Open(t.Context(), t.TempDir()))
	defer func() { _ = db.Close() }()
	with := func(name, role string) error {
		_, err := New(Options{Store: db, Mode: ModeProxy, Cost: Cost{Memory: 64, Time: 1},
			Proxy: ProxyOptions{Header: name, RoleHeader: role, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.1.0.7/32")}}})
		return err
	}
	for _, bad := range []string{"Bad Header", "Ünicode", "X-User:", "X-User\r\nX-Role", "Cookie", "cookie", "Authorization", "Host",
		"User-Agent", "Referer", "Accept-Language",
		"Sec-Fetch-Site", "X-Forwarded-For", "Forwarded", "Origin", "Content-Type"} {
		refused.As(t, with(bad, ""), fault.Invalid, "%s", "the name in "+bad)
		refused.As(t, with("X-User", bad), fault.Invalid, "%s", "the role in "+bad)
	}
	refused.As(t, with("X-U", "x-u"), fault.Invalid, "both in one")
	for _, good := range [][2]string{{"X-Forwarded-User", ""}, {"Remote-User", "Remote-Groups"}, {"x-webauth-user", "X-WEBAUTH-ROLE"},
		{"X_User", "X-User"}} {
		expect.NoError(t, with(good[0], good[1]), "%q: unexpected error", good)
	}
}

// Proxies write addresses in many ways. One that cannot be read would make all their clients one, so it is warned of.
func TestAddressesOfClientsAreReadAsProxiesWriteThem(t *testing.T) {
	for _, c := range []struct {
		headers []string
		want    string
		unread  bool
	}{
		{[]string{"X-Forwarded-For", "203.0.113.7:51234"}, "203.0.113.7", false},
		{[]string{"X-Forwarded-For", "[2001:db8::7]:51234"}, "2001:db8::7", false},
		{[]string{"X-Forwarded-For", "[2001:db8::7]"}, "2001:db8::7", false},
		{[]string{"X-Forwarded-For", "2001:db8::7, 10.1.2.3:80"}, "2001:db8::7", false},
		{[]string{"X-Forwarded-For", "::ffff:203.0.113.7"}, "203.0.113.7", false},
		{[]string{"Forwarded", "for=203.0.113.7;proto=https;by=10.1.2.3"}, "203.0.113.7", false},
		{[]string{"Forwarded", `for=198.51.100.1, For="[2001:db8::7]:4711"`}, "2001:db8::7", false},
		{[]string{"Forwarded", `proto=https;for="203.0.113.7:80", for=10.1.2.3`}, "203.0.113.7", false},
		{[]string{"X-Forwarded-For", "203.0.113.7", "Forwarded", "for=198.51.100.1"}, "203.0.113.7", false}, // which a browser may have sent
		{[]string{"X-Forwarded-For", "203.0.113.7, nobody"}, "10.1.2.3", true},
		{[]string{"Forwarded", "for=_hidden"}, "10.1.2.3", true},
		{[]string{"Forwarded", "for=unknown"}, "10.1.2.3", true},
		{[]string{"X-Forwarded-For", "203.0.113.7:port"}, "10.1.2.3", true},
		{nil, "10.1.2.3", false},
		{[]string{"X-Forwarded-For", ""}, "10.1.2.3", false},
	} {
		h := newFixture(t, withProxy, func(o *Options) { o.Forwarded = o.Proxy.CIDRs })
		for range 3 {
			expect.Equal(t, h.ClientAddr(newRequest("10.1.2.3", nil, c.headers...)), c.want, "%q", c.headers)
		}
		if n := strings.Count(h.log.String(), "cannot be read"); n != map[bool]int{true: 1}[c.unread] {
			t.Errorf("%q: %d warnings: %s", c.headers, n, h.log)
		}
	}
}
