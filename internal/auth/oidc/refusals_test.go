package oidc

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/proxyenv"
)

func TestARefusedExchangeGivesAdviceWithoutSecrets(t *testing.T) {
	for sent, tc := range map[string]struct {
		code string
		kind fault.Kind
		says string
	}{
		"invalid_client":          {"client-refused", fault.Unavailable, "--oidc-client-secret-file"},
		"unauthorized_client":     {"client-refused", fault.Unavailable, "--oidc-client-id"},
		"invalid_grant":           {"code-refused", fault.Forbidden, "/login/oidc/callback"},
		"invalid_scope":           {"token-refused", fault.Forbidden, "invalid_scope"},
		"client-secret":           {"token-refused", fault.Forbidden, "not in the standard"},
		"\x1b[31mclient-secret\n": {"token-refused", fault.Forbidden, "not in the standard"},
	} {
		p := newProvider(t)
		p.refuse = sent
		_, err := p.signIn(t, p.issuer(t))
		r := expectRefusal(t, err, tc.code)
		all := r.Advice + fault.Text(err) + err.Error()
		if fault.Of(err) != tc.kind || !strings.Contains(r.Advice, tc.says) ||
			strings.Contains(strings.ReplaceAll(all, "--oidc-client-secret-file", ""), "client-secret") {
			t.Errorf("%q: unexpected error kind %v, texts %s", sent, fault.Of(err), all)
		}
	}
}

func TestAnInvalidDiscoveryDocumentIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		code string
		more map[string]any
	}{
		"another issuer":           {"discovery-issuer", map[string]any{"issuer": "https://evil.example"}},
		"no issuer":                {"discovery-issuer", map[string]any{"issuer": ""}},
		"a token endpoint by http": {"discovery-address", map[string]any{"token_endpoint": "http://issuer.example/token"}},
		"no token endpoint":        {"discovery-address", map[string]any{"token_endpoint": ""}},
		"a script":                 {"discovery-address", map[string]any{"authorization_endpoint": "javascript:alert(1)"}},
		"keys by http":             {"discovery-address", map[string]any{"jwks_uri": "http://issuer.example/keys"}},
		"keys in a file":           {"discovery-address", map[string]any{"jwks_uri": "file:///etc/passwd"}},
		"UserInfo by http":         {"discovery-address", map[string]any{"userinfo_endpoint": "http://issuer.example/userinfo"}},
		"UserInfo with a password": {"discovery-address", map[string]any{"userinfo_endpoint": "https://a:b@issuer.example/userinfo"}},
		"another form":             {"discovery", map[string]any{"token_endpoint": 7}},
	} {
		p := newProvider(t)
		p.more = tc.more
		_, err := p.issuer(t).Address(t.Context(), state, nonce, verifier)
		expectRefusal(t, err, tc.code)
		expect.Equal(t, fault.Of(err), fault.Unavailable, "%s: kind of %v", name, err)
	}
}

func TestUnreachableAndWrongIssuersGiveDifferentAdvice(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	wrong := httptest.NewServer(http.NotFoundHandler())
	defer wrong.Close()
	long := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(strings.Repeat("\x1b[31m", 10_000)))
	}))
	defer long.Close()
	strange := httptest.NewUnstartedServer(http.NotFoundHandler())
	strange.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshake is expected to fail
	strange.StartTLS()
	defer strange.Close()
	leads := httptest.NewServer(http.RedirectHandler(wrong.URL, http.StatusFound))
	defer leads.Close()
	for address, want := range map[string]struct{ code, says string }{
		gone.URL: {"issuer-unreachable", "did not answer"}, wrong.URL: {"discovery", ".well-known"}, long.URL: {"discovery", ".well-known"},
		strange.URL: {"issuer-unreachable", "certificate"}, leads.URL: {"issuer-unreachable", "redirect"},
	} {
		i, err := New(Options{Issuer: address, ClientID: "board", RedirectURL: "https://board.example/x"})
		must.Do(t, err)
		_, err = i.Address(t.Context(), state, nonce, verifier)
		r := expectRefusal(t, err, want.code)
		if !strings.Contains(r.Advice, want.says) || fault.Of(err) != fault.Unavailable || len(err.Error()) > 1000 {
			t.Errorf("%s: %s\n%.2000s", address, r.Advice, err)
		}
	}
}

func TestACancelledRequestIsNoIssuerFailure(t *testing.T) {
	p := newProvider(t)
	now := time.Now()
	i := p.issuer(t, func(o *Options) { o.Now = func() time.Time { return now } })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	expect.That(t, must.Err(i.Address(ctx, state, nonce, verifier)) != nil, "a request that is over found the issuer")
	expect.NoError(t, must.Err(i.Address(t.Context(), state, nonce, verifier)), "at the same moment, for another person")
}

func TestUnreadableKeysAreReportedAsTheIssuersFailure(t *testing.T) {
	p := newProvider(t)
	p.more = map[string]any{"jwks_uri": p.URL + "/nowhere"}
	_, err := p.signIn(t, p.issuer(t))
	if expectRefusal(t, err, "issuer-unreachable"); fault.Of(err) != fault.Unavailable {
		t.Error(err)
	}
}

func TestAWrongClockIsReportedAsTheCause(t *testing.T) {
	p := newProvider(t)
	_, err := p.signIn(t, p.issuer(t, func(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Hour) } }))
	if r := expectRefusal(t, err, "expired"); !strings.Contains(r.Advice, "59m") || !strings.Contains(r.Advice, "clock") {
		t.Error(r.Advice)
	}
}

func TestTheProxyOfTheEnvironmentIsUsed(t *testing.T) {
	proxyenv.Check(t, func(issuer string) {
		i, err := New(Options{Issuer: issuer, ClientID: "board", RedirectURL: "https://board.invalid/callback"})
		must.Do(t, err)
		expect.That(t, must.Err(i.Address(t.Context(), "s", "n", "v")) != nil, "nobody is there")
	})
}

func TestTheSecretIsSentAsTheIssuerAcceptsIt(t *testing.T) {
	for name, tc := range map[string]struct {
		takes string
		lists any
		tried int // requests of two sign-ins
	}{
		"header":              {"header", []string{"client_secret_basic", "client_secret_post"}, 2},
		"form":                {"form", []string{"client_secret_post"}, 2},
		"header, not listed":  {"header", nil, 2},
		"form, not listed":    {"form", nil, 3},
		"form, listed wrong":  {"form", []string{"client_secret_basic"}, 3},
		"header, no list":     {"header", "client_secret_post", 2},
		"header, wrong alone": {"header", []string{"client_secret_post"}, 3},
	} {
		p := newProvider(t)
		p.secretIn, p.more = tc.takes, map[string]any{"token_endpoint_auth_methods_supported": tc.lists}
		i := p.issuer(t)
		for range 2 {
			if c, err := p.signIn(t, i); err != nil || c.Subject != "sub-1" {
				t.Errorf("%s: unexpected claims %+v, error %v", name, c, err)
			}
		}
		expect.That(t, p.exchanges == tc.tried, "%s: %d requests for a token, expected %d", name, p.exchanges, tc.tried)
	}
}
