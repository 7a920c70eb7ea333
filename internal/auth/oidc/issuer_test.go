package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

const (
	state    = "state-of-this-attempt"
	nonce    = "nonce-of-this-attempt"
	verifier = "verifier-of-this-attempt-which-is-long-enough-to-be-one"
)

func TestTheAuthorizationRequestHasStateNonceAndPKCE(t *testing.T) {
	p := newProvider(t)
	to, err := p.issuer(t).Address(t.Context(), state, nonce, verifier)
	must.Do(t, err)
	u, _ := url.Parse(to)
	q := u.Query()
	sum := sha256.Sum256([]byte(verifier))
	for name, want := range map[string]string{"response_type": "code", "client_id": "board",
		"redirect_uri": "https://board.example/login/oidc/callback", "state": state,
		"nonce": nonce, "code_challenge_method": "S256", "code_challenge": b64(sum[:]), "scope": "openid profile email"} {
		expect.Equal(t, q.Get(name), want, "%s", name)
	}
	expect.That(t, !strings.Contains(to, verifier) && !strings.Contains(to, "client-secret"), "a secret is in the address")
}

func TestClaimsAreReadFromAValidToken(t *testing.T) {
	for name, set := range map[string]func(*provider){
		"RS256":          func(*provider) {},
		"ES256":          func(p *provider) { p.header, p.sign = map[string]any{"alg": "ES256", "kid": "e"}, (*provider).byEC },
		"many audiences": func(p *provider) { p.claims = map[string]any{"aud": []string{"other", "board"}, "azp": "board"} },
		"at_hash":        func(p *provider) { p.claims = map[string]any{"at_hash": atHash("a")} },
		"iss in the callback": func(p *provider) {
			p.iss, p.more = p.URL, map[string]any{"authorization_response_iss_parameter_supported": true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			set(p)
			i := p.issuer(t)
			to, err := i.Address(t.Context(), state, nonce, verifier)
			must.Do(t, err)
			c, err := i.Exchange(t.Context(), p.authorize(t, to), nonce, verifier)
			if err != nil || c.Issuer != p.URL || c.Subject != "sub-1" || c.Name != "anna" || strings.Join(c.Groups, ",") != "ops,staff" {
				t.Errorf("unexpected claims %+v, error %v", c, err)
			}
		})
	}
}

func TestTokensThatAreNotForThisAttemptAreRefused(t *testing.T) {
	other := must.Get(rsa.GenerateKey(rand.Reader, 2048))
	past := time.Now().Add(-time.Hour).Unix()
	for name, tc := range map[string]struct {
		code string
		set  func(*provider)
	}{
		"another nonce":      {"nonce", func(p *provider) { p.claims = map[string]any{"nonce": "of another attempt"} }},
		"no nonce":           {"nonce", func(p *provider) { p.claims = map[string]any{"nonce": nil} }},
		"another audience":   {"other-audience", func(p *provider) { p.claims = map[string]any{"aud": "other"} }},
		"no audience":        {"other-audience", func(p *provider) { p.claims = map[string]any{"aud": nil} }},
		"another client":     {"other-client", func(p *provider) { p.claims = map[string]any{"azp": "other"} }},
		"audiences, no azp":  {"other-client", func(p *provider) { p.claims = map[string]any{"aud": []string{"board", "other"}} }},
		"another issuer":     {"other-issuer", func(p *provider) { p.claims = map[string]any{"iss": "https://evil.example"} }},
		"the issuer, longer": {"other-issuer", func(p *provider) { p.claims = map[string]any{"iss": p.URL + "/"} }},
		"not valid yet":      {"not-yet", func(p *provider) { p.claims = map[string]any{"nbf": time.Now().Add(time.Hour).Unix()} }},
		"an encrypted one":   {"encrypted", func(p *provider) { p.whole = "a.b.c.d.e" }},
		"no token":           {"other-audience", func(p *provider) { p.whole = "x" }},
		"none":               {"no-id-token", func(p *provider) { p.whole = "-" }},
		"expired":            {"expired", func(p *provider) { p.claims = map[string]any{"exp": past} }},
		"no expiry":          {"id-token", func(p *provider) { p.claims = map[string]any{"exp": nil} }},
		"alg none": {"algorithm", func(p *provider) {
			p.header, p.sign = map[string]any{"alg": "none"}, func(*provider, string) []byte { return nil }
		}},
		"another key":      {"signature", func(p *provider) { p.sign = func(_ *provider, in string) []byte { return signRSA(other, in) } }},
		"another key's id": {"signature", func(p *provider) { p.header = map[string]any{"kid": "e"} }},
		"an unknown key":   {"signature", func(p *provider) { p.header = map[string]any{"kid": "x"} }},
		"HMAC by client secret": {"algorithm", func(p *provider) {
			p.header, p.sign = map[string]any{"alg": "HS256", "kid": "r"}, func(_ *provider, in string) []byte { return hmacOf("client-secret", in) }
		}},
		"HMAC by public key": {"algorithm", func(p *provider) {
			p.header, p.sign = map[string]any{"alg": "HS256",
				"kid": "r"}, func(p *provider, in string) []byte { return hmacOf(string(p.rsa.N.Bytes()), in) }
		}},
		"no signature":          {"signature", func(p *provider) { p.sign = func(*provider, string) []byte { return nil } }},
		"another access token":  {"access-token", func(p *provider) { p.claims = map[string]any{"at_hash": atHash("b")} }},
		"a callback of another": {"other-issuer", func(p *provider) { p.iss = "https://evil.example" }},
		"a callback of nobody": {"other-issuer", func(p *provider) {
			p.more = map[string]any{"authorization_response_iss_parameter_supported": true}
		}},
		"a key of its own": {"signature", func(p *provider) {
			p.header = map[string]any{"jwk": map[string]any{"kty": "RSA", "n": b64(other.N.Bytes()), "e": "AQAB"}, "kid": nil}
			p.sign = func(_ *provider, in string) []byte { return signRSA(other, in) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			tc.set(p)
			c, err := p.signIn(t, p.issuer(t))
			if err == nil || fault.Of(err) != fault.Forbidden || c.Subject != "" {
				t.Errorf("unexpected claims %+v, error %v", c, err)
			}
			expectRefusal(t, err, tc.code)
		})
	}
}

// atHash is OpenID Connect Core §3.1.3.6 for SHA-256.
func atHash(access string) string {
	sum := sha256.Sum256([]byte(access))
	return b64(sum[:16])
}

func hmacOf(key, input string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(input))
	return h.Sum(nil)
}

func TestACodeIsBoundToClientRedirectAndVerifier(t *testing.T) {
	p := newProvider(t)
	i := p.issuer(t)
	to, err := i.Address(t.Context(), state, nonce, verifier)
	must.Do(t, err)
	for name, try := range map[string]func() error{
		"an unknown code": func() error {
			_, err := i.Exchange(t.Context(), auth.Callback{Code: "guess"}, nonce, verifier)
			return err
		},
		"another verifier": func() error { _, err := i.Exchange(t.Context(), p.authorize(t, to), nonce, "x"+verifier); return err },
		"another secret": func() error {
			_, err := p.issuer(t, func(o *Options) { o.Secret = "wrong" }).Exchange(t.Context(), p.authorize(t, to), nonce, verifier)
			return err
		},
		"another address": func() error {
			_, err := p.issuer(t, func(o *Options) { o.RedirectURL = "https://evil.example/" }).Exchange(t.Context(), p.authorize(t, to),
				nonce, verifier)
			return err
		},
		"a code twice": func() error {
			code := p.authorize(t, to)
			expect.NoError(t, must.Err(i.Exchange(t.Context(), code, nonce, verifier)), "once")
			_, err := i.Exchange(t.Context(), code, nonce, verifier)
			return err
		},
	} {
		err := try()
		if err == nil || fault.Of(err) != fault.Forbidden || strings.Contains(err.Error(), "client-secret") ||
			strings.Contains(err.Error(), verifier) {
			t.Errorf("%s: unexpected error: %v", name, err)
		}
	}
}

func TestAFailedDiscoveryIsRetriedLaterAndSharedByAll(t *testing.T) {
	p := newProvider(t)
	p.down = true
	now := time.Now()
	i := p.issuer(t, func(o *Options) { o.Now = func() time.Time { return now } })
	for range 5 {
		if _, err := i.Address(t.Context(), state, nonce, verifier); fault.Of(err) != fault.Unavailable {
			t.Fatal(err)
		}
	}
	p.mu.Lock()
	discoveries := p.discoveries
	p.down = false
	p.mu.Unlock()
	expect.That(t, discoveries == 1, "discovery was requested %d times, expected once", discoveries)
	now = now.Add(retryAfter)
	expect.NoError(t, must.Err(i.Address(t.Context(), state, nonce, verifier)), "after the issuer is up again")
}

func TestTheIssuersAnswersAreBoundedAndRedirectsNotFollowed(t *testing.T) {
	p := newProvider(t)
	p.huge = true
	if _, err := p.issuer(t).Address(t.Context(), state, nonce, verifier); fault.Of(err) != fault.Unavailable {
		t.Errorf("a document of %d bytes: %v", 2*maxAnswer, err)
	}
	led := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { led = true }))
	defer elsewhere.Close()
	redirects := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer redirects.Close()
	i, err := New(Options{Issuer: redirects.URL, ClientID: "board", RedirectURL: "https://board.example/x"})
	must.Do(t, err)
	if _, err := i.Address(t.Context(), state, nonce, verifier); fault.Of(err) != fault.Unavailable || led {
		t.Errorf("led elsewhere: %v, %v", led, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	expect.That(t, must.Err(p.issuer(t).Address(ctx, state, nonce, verifier)) != nil, "a cancelled request succeeded")
}

func TestUnsafeOptionsAreRejected(t *testing.T) {
	good := Options{Issuer: "https://issuer.example", ClientID: "board", RedirectURL: "https://board.example/x"}
	must.Do(t, must.Err(New(good)))
	for name, change := range map[string]func(*Options){
		"no issuer": func(o *Options) { o.Issuer = "" }, "http": func(o *Options) { o.Issuer = "http://issuer.example" },
		"no scheme":  func(o *Options) { o.Issuer = "issuer.example" },
		"a password": func(o *Options) { o.Issuer = "https://a:b@issuer.example" }, "no client": func(o *Options) { o.ClientID = "" },
		"no way back": func(o *Options) { o.RedirectURL = "" },
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil || fault.Of(err) != fault.Invalid {
			t.Errorf("%s: unexpected error: %v", name, err)
		}
	}
}
