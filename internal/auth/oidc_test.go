package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

// fakeIssuer returns the given claims for one code.
type fakeIssuer struct {
	claims          Claims
	down            bool
	nonce, verifier string
	issuer          string // parameter iss of the last callback
}

func (f *fakeIssuer) Address(_ context.Context, state, nonce, verifier string) (string, error) {
	if f.down {
		return "", fault.New(fault.Unavailable, "down")
	}
	f.nonce, f.verifier = nonce, verifier
	return "https://issuer.example/authorize?" + url.Values{"state": {state}}.Encode(), nil
}

func (f *fakeIssuer) EndSession(_ context.Context, back string) (string, error) {
	if f.down {
		return "", fault.New(fault.Unavailable, "down")
	}
	return "https://issuer.example/end?" + url.Values{"back": {back}}.Encode(), nil
}

func (f *fakeIssuer) Exchange(_ context.Context, c Callback, nonce, verifier string) (Claims, error) {
	f.issuer = c.Issuer
	if c.Code != "code" || nonce != f.nonce || verifier != f.verifier {
		return Claims{}, fault.New(fault.Forbidden, "refused")
	}
	return f.claims, nil
}

func withIssuer(f *fakeIssuer) func(*Options) {
	return func(o *Options) {
		o.Mode, o.Issuer = ModeOIDC, f
		o.Roles = map[string]Role{"staff": Viewer, "ops": Operator, "dba": Admin}
	}
}

func issuerWithGroups(groups ...string) *fakeIssuer {
	return &fakeIssuer{claims: Claims{Issuer: "https://issuer.example", Subject: "sub-1", Name: "Anna", Groups: groups}}
}

// startOIDC starts a sign-in and returns the browser's cookie and the state.
func (h *fixture) startOIDC(t *testing.T, next string) (*http.Cookie, string) {
	t.Helper()
	w := httptest.NewRecorder()
	to, err := h.StartOIDC(w, newRequest("192.0.2.1", nil), next)
	must.Do(t, err)
	u, err := url.Parse(to)
	must.That(t, err == nil && len(w.Result().Cookies()) == 1, "%v %v", to, err)
	return w.Result().Cookies()[0], u.Query().Get("state")
}

// finishOIDC sends the issuer's callback; the session cookie is nil when it was refused.
func (h *fixture) finishOIDC(cookie *http.Cookie, query string) (*http.Cookie, string, error) {
	r := newRequest("192.0.2.1", cookie)
	r.URL.RawQuery = query
	w := httptest.NewRecorder()
	to, err := h.FinishOIDC(w, r)
	for _, c := range w.Result().Cookies() {
		if c.Name == cookieName && c.Value != "" {
			return c, to, err
		}
	}
	return nil, to, err
}

// callback is a sign-in that the issuer answers with its code.
func (h *fixture) callback(t *testing.T) (*http.Cookie, error) {
	t.Helper()
	flow, state := h.startOIDC(t, "/")
	c, _, err := h.finishOIDC(flow, "code=code&state="+state)
	return c, err
}

func TestOIDCUsersHaveTheGreatestRoleOfTheirGroups(t *testing.T) {
	issuer := issuerWithGroups("other", "ops", "staff")
	h := newFixture(t, withIssuer(issuer))
	flow, state := h.startOIDC(t, "/projects?q=x")
	if !flow.HttpOnly || flow.SameSite != http.SameSiteLaxMode || flow.MaxAge > 600 || len(flow.Value) > 3000 {
		t.Errorf("unexpected sign-in: %+v", flow)
	}
	c, to, err := h.finishOIDC(flow, "code=code&iss=https%3A%2F%2Fissuer.example&state="+state)
	must.That(t, err == nil && to == "/projects?q=x" && c != nil, "%v %v %v", c, to, err)
	expect.Equal(t, issuer.issuer, "https://issuer.example", "the parameter iss")
	p, err := h.identify(c)
	if err != nil || p.Role != Operator || p.Method != ByOIDC || p.Name != "Anna" || !strings.HasPrefix(p.ID, "oidc:") ||
		!strings.HasSuffix(p.ID, ":sub-1") {
		t.Errorf("unexpected principal %+v, error %v", p, err)
	}
	must.Do(t, h.Check(t.Context(), p))
	h.advance(7 * time.Hour)
	expect.NoError(t, must.Err(h.identify(c)), "identify")
	h.advance(5 * time.Hour)
	expectAnonymous(t, "after a day's work")(h.identify(c))
}

func TestUsersWithoutAGroupWithARoleAreRefused(t *testing.T) {
	issuer := issuerWithGroups()
	h := newFixture(t, withIssuer(issuer))
	for i, groups := range [][]string{nil, {}, {"Staff"}, {"", "admin"}, {"staff,ops"}} {
		h.advance(time.Hour) // refusals of one kind are counted together
		issuer.claims.Groups = groups
		c, err := h.callback(t)
		if c != nil || fault.Of(err) != fault.Forbidden || !strings.Contains(fault.Text(err), "group") {
			t.Errorf("%q: unexpected error: %v", groups, err)
		}
		if r := h.auditRecords(t, auditRefused); len(r) != i+1 || !strings.HasSuffix(r[i].Subject, ":sub-1") {
			t.Errorf("%q: unexpected refusal: %+v", groups, r)
		}
	}
}

func TestACallbackThatThisBrowserDidNotStartIsRefused(t *testing.T) {
	h := newFixture(t, withIssuer(issuerWithGroups("ops")))
	flow, state := h.startOIDC(t, "/")
	other, _ := h.startOIDC(t, "/")
	broken := *flow
	broken.Value = flow.Value[:20]
	for name, tc := range map[string]struct {
		cookie *http.Cookie
		query  string
	}{
		"no cookie":                {nil, "code=code&state=" + state},
		"another browser's cookie": {other, "code=code&state=" + state},
		"a broken cookie":          {&broken, "code=code&state=" + state},
		"another code":             {flow, "code=other&state=" + state},
		"nothing":                  {flow, ""},
	} {
		c, _, err := h.finishOIDC(tc.cookie, tc.query)
		if c != nil || fault.Of(err) != fault.Forbidden || strings.Contains(fault.Text(err), "script") {
			t.Errorf("%s: unexpected error: %v", name, err)
		}
	}
}

func TestNamesFromTheIssuerAreChecked(t *testing.T) {
	issuer := issuerWithGroups("ops")
	h := newFixture(t, withIssuer(issuer))
	for _, bad := range []string{"", "a\x00", "a\r\nb", strings.Repeat("x", 256), "a\u202eb"} {
		issuer.claims.Subject = bad
		if c, err := h.callback(t); c != nil || err == nil {
			t.Errorf("%q is let in", bad)
		}
	}
	issuer.claims.Subject, issuer.claims.Name = "sub-1", "a\r\n\u202eb"
	c, err := h.callback(t)
	must.Do(t, err)
	if p, err := h.identify(c); err != nil || p.Name != "sub-1" {
		t.Errorf("unexpected principal %+v, error %v", p, err)
	}
}

func TestWithoutOIDCItsRoutesAreNotFound(t *testing.T) {
	h := newFixture(t)
	w := httptest.NewRecorder()
	refused.As(t, must.Err(h.StartOIDC(w, newRequest("192.0.2.1", nil), "/")), fault.NotFound, "start")
	refused.As(t, must.Err(h.FinishOIDC(w, newRequest("192.0.2.1", nil))), fault.NotFound, "finish")
	expect.Equal(t, len(w.Result().Cookies()), 0, "a cookie is set")
}

func TestRedirectsAfterSignInStayOnThisSite(t *testing.T) {
	for _, good := range []string{"/", "/projects", "/projects?q=a%20b&x=1", "/collections/a.b%2Fc", "/a//b"} {
		expect.Equal(t, LocalPath(good), good, "a path of this site")
	}
	for _, bad := range []string{"", "x", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example",
		"/\t/evil.example", "/\n/evil.example", "/ /evil.example",
		"https://evil.example", "http:/evil.example", "javascript:alert(1)", " /x", "/\x00", "/\u2028", "/é", "\t//evil.example", "//",
		"/\\", "data:text/html,x",
		"/login", "/login/oidc?next=/", "?next=//evil.example", "#x", ".", "..", "@evil.example", ":80", "/" + strings.Repeat("a", maxNext)} {
		expect.Equal(t, LocalPath(bad), "/", "%q", bad)
	}
}

func TestModesAreParsedAndContradictionsRejected(t *testing.T) {
	for text, want := range map[string]Mode{"local": ModeLocal, "local, oidc": "local,oidc", "oidc,oidc": ModeOIDC, "none": ModeNone,
		"demo": ModeDemo, "local,oidc,proxy": "local,oidc,proxy"} {
		if got, err := ParseMode(text); err != nil || got != want {
			t.Errorf("%q: unexpected mode %q, error %v", text, got, err)
		}
	}
	for _, bad := range []string{"", ",", "local,", "none,local", "demo,oidc", "none,demo", "Local", "all"} {
		if got, err := ParseMode(bad); err == nil {
			t.Errorf("%q is %q", bad, got)
		}
	}
	expect.That(t, !Mode("").Has("") && !Mode("").Off() && !Mode("local").Has("loc"), "the zero mode has a way")
	for name, o := range map[string]Options{
		"nothing": {}, "oidc without issuer": {Mode: ModeOIDC}, "proxy without addresses": {Mode: ModeProxy, Proxy: ProxyOptions{Header: "X"}},
		"a strange address": {Mode: ModeLocal, PublicURL: "ftp://x"}, "a path": {Mode: ModeLocal, PublicURL: "https://x/y"},
		"no store": {Mode: ModeLocal},
	} {
		if _, err := New(o); fault.Of(err) != fault.Invalid || err == nil {
			t.Errorf("%s: unexpected error: %v", name, err)
		}
	}
}
