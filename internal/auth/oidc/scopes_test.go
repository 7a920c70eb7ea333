package oidc

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"shardboard/internal/fault"
)

func TestScopesAreRequestedAndAlwaysIncludeOpenID(t *testing.T) {
	for want, scopes := range map[string][]string{
		"openid profile email":          nil,
		"openid groups":                 {"groups"},
		"openid":                        {},
		"openid a b":                    {"a", "openid", "b", "a"},
		"openid urn:x:y:roles https://": {"urn:x:y:roles", "https://"},
		"openid ! #[ ]~":                {"!", "#[", "]~"},
	} {
		p := newProvider(t)
		to, err := p.issuer(t, func(o *Options) { o.Scopes = scopes }).Address(t.Context(), state, nonce, verifier)
		u, _ := url.Parse(to)
		if err != nil || u.Query().Get("scope") != want {
			t.Errorf("%q: unexpected address %q, error %v", scopes, to, err)
		}
	}
}

func TestInvalidScopesAreRejectedAtStart(t *testing.T) {
	for _, bad := range []string{"", "a b", "a\"b", `a\b`, "a\n", "\x7f", "é", "a\u202eb", strings.Repeat("x", maxScope+1)} {
		o := Options{Issuer: "https://issuer.example", ClientID: "board", RedirectURL: "https://board.example/x", Scopes: []string{"email", bad}}
		if _, err := New(o); err == nil || fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "--oidc-scopes") {
			t.Errorf("%q: unexpected error: %v", bad, err)
		}
	}
}

func TestUnlistedScopesAreRequestedWithAWarning(t *testing.T) {
	for name, tc := range map[string]struct {
		listed any
		warned bool
	}{"not listed": {[]string{"openid", "email"}, true}, "listed": {[]string{"groups", "openid"}, false}, "no list": {nil, false},
		"no list of texts": {7, false}} {
		p := newProvider(t)
		p.more = map[string]any{"scopes_supported": tc.listed}
		var log bytes.Buffer
		i := p.issuer(t, func(o *Options) { o.Scopes, o.Log = []string{"groups"}, slog.New(slog.NewTextHandler(&log, nil)) })
		for range 2 {
			to, err := i.Address(t.Context(), state, nonce, verifier)
			if err != nil || !strings.Contains(to, "groups") {
				t.Errorf("%s: unexpected address %q, error %v", name, to, err)
			}
		}
		if got := strings.Count(log.String(), "does not list"); got != map[bool]int{true: 1}[tc.warned] ||
			tc.warned && !strings.Contains(log.String(), "[groups]") {
			t.Errorf("%s: unexpected log: %s", name, log.String())
		}
	}
}

func TestMissingGroupsAdviceNamesScopesThatWereNotGranted(t *testing.T) {
	p := newProvider(t)
	p.without, p.granted = []string{"groups"}, "openid profile"
	i := p.issuer(t, func(o *Options) { o.Scopes = []string{"profile", "groups", "roles"} })
	_, err := p.signIn(t, i)
	if r := expectRefusal(t, err, "groups-missing"); !strings.Contains(r.Advice, "did not grant these scopes: groups roles.") {
		t.Error(r.Advice)
	}
}
