package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// refusingIssuer returns claims together with a refusal.
type refusingIssuer struct {
	fakeIssuer
	err error
}

func (r *refusingIssuer) Exchange(context.Context, Callback, string, string) (Claims, error) {
	return r.claims, r.err
}

func codeOf(t *testing.T, err error) *Refusal {
	t.Helper()
	var r *Refusal
	must.That(t, errors.As(err, &r) && r.Advice != "" && fault.Text(err) != "", "%v is no refusal with an advice", err)
	return r
}

func TestInvalidCallbacksAreRefusedWithTheirReason(t *testing.T) {
	const state = "STATE"
	h := newFixture(t, withIssuer(issuerWithGroups("ops")))
	tried := 0
	for query, want := range map[string]struct {
		code string
		kind fault.Kind
		says string
	}{
		"error=access_denied&error_description=%3Cscript%3E&state=" + state: {"issuer-access-denied", fault.Forbidden, "assigned"},
		"error=invalid_scope&state=" + state:                                {"issuer-invalid-scope", fault.Forbidden, "--oidc-scopes"},
		"error=unauthorized_client&state=" + state:                          {"issuer-unauthorized-client", fault.Forbidden, "code flow"},
		"error=unsupported_response_type&state=" + state:                    {"issuer-unsupported-response-type", fault.Forbidden, "code flow"},
		"error=invalid_request&state=" + state:                              {"issuer-invalid-request", fault.Forbidden, "PKCE"},
		"error=login_required&state=" + state:                               {"issuer-login-required", fault.Forbidden, "not finished"},
		"error=consent_required&state=" + state:                             {"issuer-consent-required", fault.Forbidden, "not finished"},
		"error=temporarily_unavailable&state=" + state:                      {"issuer-temporarily-unavailable", fault.Unavailable, "log"},
		"error=server_error&code=code&state=" + state:                       {"issuer-server-error", fault.Unavailable, "log"},
		"error=%3Cscript%3E&state=" + state:                                 {"issuer-refused", fault.Forbidden, "log"},
		"error=&state=" + state:                                             {"issuer-refused", fault.Forbidden, "log"},
		"error=access_denied":                                               {"state", fault.Forbidden, "--public-url"},
		"code=code&state=other":                                             {"state", fault.Forbidden, "--public-url"},
		"state=" + state:                                                    {"no-code", fault.Forbidden, "--public-url"},
	} {
		h.advance(time.Hour) // attempts are limited
		flow, real := h.startOIDC(t, "/")
		c, _, err := h.finishOIDC(flow, strings.ReplaceAll(query, state, real))
		r := codeOf(t, err)
		if c != nil || r.Code != want.code || fault.Of(err) != want.kind || !strings.Contains(r.Advice, want.says) ||
			strings.Contains(r.Advice+fault.Text(err), "script") {
			t.Errorf("%s: unexpected code %q, error kind %v, advice %q", query, r.Code, fault.Of(err), r.Advice)
		}
		tried++
		if a := h.auditRecords(t, auditRefused); len(a) != tried || a[tried-1].Details["reason"] != want.code || a[tried-1].By != "" ||
			a[tried-1].Via != "oidc" {
			t.Errorf("%s: unexpected record: %+v", query, a)
		}
	}
	h.advance(time.Hour)
	flow, real := h.startOIDC(t, "/")
	if _, _, err := h.finishOIDC(nil, "code=code&state="+real); codeOf(t, err).Code != "not-begun-here" {
		t.Error(err)
	}
	h.advance(flowLifetime * 2)
	if _, _, err := h.finishOIDC(flow, "code=code&state="+real); codeOf(t, err).Code != "too-late" {
		t.Error(err)
	}
}

// What is not signed here is no attempt: another site of the same domain may set cookies.
func TestACookieThatIsNotSignedIsNoAttempt(t *testing.T) {
	h := newFixture(t, withIssuer(issuerWithGroups("ops")))
	flow, state := h.startOIDC(t, "/")
	real := *flow
	for what, change := range map[string]func([]byte){
		"its end": func(b []byte) { b[len(b)-2] ^= 1 }, "its signature": func(b []byte) { b[0] ^= 1 },
	} {
		all := must.Get(base64.RawURLEncoding.DecodeString(real.Value))
		change(all)
		flow.Value = base64.RawURLEncoding.EncodeToString(all)
		if _, _, err := h.finishOIDC(flow, "code=code&state="+state); codeOf(t, err).Code != "not-begun-here" {
			t.Errorf("with another value of %s: %v", what, err)
		}
	}
	other := &fixture{Service: h.service(t, withIssuer(issuerWithGroups("ops")))}
	if _, _, err := other.finishOIDC(&real, "code=code&state="+state); codeOf(t, err).Code != "not-begun-here" {
		t.Errorf("at a process with another key: %v", err)
	}
	if c, _, err := h.finishOIDC(&real, "code=code&state="+state); err != nil || c == nil {
		t.Error(err)
	}
}

// A browser that was restored opens all its tabs at once, and each signs in.
func TestTabsSignInAtOnce(t *testing.T) {
	f := issuerWithGroups("ops")
	h := newFixture(t, withIssuer(f))
	jar := map[string]*http.Cookie{}
	send := func(ask func(http.ResponseWriter, *http.Request) (string, error), query string) (string, error) {
		r := newRequest("192.0.2.1", nil)
		r.URL.RawQuery = query
		for _, c := range jar {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		to, err := ask(w, r)
		for _, c := range w.Result().Cookies() {
			if jar[c.Name] = c; c.MaxAge < 0 {
				delete(jar, c.Name)
			}
		}
		return to, err
	}
	type tab struct{ next, state, nonce, verifier string }
	start := func(i int) tab {
		next := fmt.Sprintf("/tab/%d", i)
		to, err := send(func(w http.ResponseWriter, r *http.Request) (string, error) { return h.StartOIDC(w, r, next) }, "")
		must.Do(t, err)
		u := must.Get(url.Parse(to))
		h.advance(time.Second)
		return tab{next, u.Query().Get("state"), f.nonce, f.verifier}
	}
	finish := func(one tab) (string, error) {
		f.nonce, f.verifier = one.nonce, one.verifier
		return send(h.FinishOIDC, "code=code&state="+one.state)
	}
	tabs := []tab{start(0), start(1)}
	for _, one := range tabs {
		if to, err := finish(one); err != nil || to != one.next {
			t.Errorf("%s: led to %q, %v", one.next, to, err)
		}
	}
	if to, err := finish(tabs[0]); err != nil || to != "/" { // the person goes back, and the browser asks again
		t.Errorf("again: led to %q, %v", to, err)
	}
	late := start(2)
	h.advance(flowLifetime)
	if to, err := finish(late); err != nil || to != late.next {
		t.Errorf("too late, but signed in: led to %q, %v", to, err)
	}
	for i := range 3 * maxFlows {
		start(i)
	}
	expect.That(t, len(jar) == maxFlows+1, "the browser has %d cookies", len(jar))
}

func TestARefusalIsRecordedAndLoggedWithTheNamesOfTheClaims(t *testing.T) {
	r := Refuse("groups-missing", fault.Forbidden, nil, "No groups.", "Send the claim.")
	r.Claims = ClaimNames{IDToken: []string{"iss", "sub"}, UserInfo: []string{"realm_access.roles", "sub"}}
	f := &refusingIssuer{err: fmt.Errorf("wrapped: %w", r)}
	f.claims = issuerWithGroups().claims
	h := newFixture(t, withIssuer(&f.fakeIssuer), func(o *Options) { o.Issuer = f })
	c, err := h.callback(t)
	if c != nil || fault.Text(err) != "No groups." || fault.Of(err) != fault.Forbidden {
		t.Errorf("unexpected cookie %v, error %v", c, err)
	}
	a := h.auditRecords(t, auditRefused)
	if len(a) != 1 || !strings.HasSuffix(a[0].Subject, ":sub-1") || a[0].Details["reason"] != "groups-missing" ||
		a[0].Details["name"] != "Anna" ||
		a[0].Details["idTokenClaims"] != "iss sub" ||
		a[0].Details["userInfoClaims"] != "realm_access.roles sub" {
		t.Errorf("unexpected record: %+v", a)
	}
	if log := h.log.String(); !strings.Contains(log, "groups-missing") || !strings.Contains(log, "Send the claim.") ||
		!strings.Contains(log, "realm_access.roles") {
		t.Error(log)
	}
	f.claims = Claims{} // no proven identity, so the record names no one
	_, _ = h.callback(t)
	if a := h.auditRecords(t, auditRefused); len(a) != 2 || a[1].Subject != "" || a[1].Details["name"] != "" {
		t.Errorf("unexpected record: %+v", a)
	}
}

func TestTheNoRoleRefusalNamesTheClaimAndTheNumberOfGroups(t *testing.T) {
	f := issuerWithGroups()
	h := newFixture(t, withIssuer(f))
	for want, c := range map[string]Claims{
		`The claim "realm_access.roles" has 2 groups, and none of them is in --oidc-role-map`: {GroupsClaim: "realm_access.roles",
			Groups: []string{"secret-a", "secret-b"}},
		`The claim "groups" has one group, which is not in --oidc-role-map`: {Groups: []string{"secret-a,ops"}, OneText: true},
		`The claim "g" came without a group, so none is in --oidc-role-map`: {GroupsClaim: "g"},
	} {
		c.Issuer, c.Subject, c.Seen = "https://issuer.example", "sub-1", ClaimNames{IDToken: []string{"sub"}}
		f.claims = c
		_, err := h.callback(t)
		r := codeOf(t, err)
		if r.Code != "no-role" || !strings.HasPrefix(r.Advice, want) || strings.Contains(r.Advice, "secret") || len(r.Claims.IDToken) != 1 ||
			c.OneText != strings.Contains(r.Advice, "not split") {
			t.Errorf("unexpected advice %q, claims %+v", r.Advice, r.Claims)
		}
	}
}
