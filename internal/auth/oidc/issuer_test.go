package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"shardboard/internal/fault"
)

// provider is a small OpenID Connect issuer in this process. Its token endpoint
// checks the client, the redirect address and PKCE as a strict one does.
type provider struct {
	*httptest.Server
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey

	mu     sync.Mutex
	down   bool
	huge   bool
	codes  map[string]url.Values // code to the query of the authorization
	header map[string]any        // of the token; merged over what is right
	claims map[string]any
	sign   func(p *provider, input string) []byte
	asked  int // discoveries
}

// rsaKey is made once: it takes long.
var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{codes: map[string]url.Values{}, rsa: rsaKey()}
	var err error
	if p.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if p.down {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	doc := map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"}}
	if p.huge {
		doc["padding"] = strings.Repeat("x", 2*maxAnswer)
	}
	answer(w, doc)
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (p *provider) keys(w http.ResponseWriter, _ *http.Request) {
	point, err := p.ec.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	answer(w, map[string]any{"keys": []any{
		map[string]any{"kty": "RSA", "kid": "r", "alg": "RS256", "use": "sig", "n": b64(p.rsa.N.Bytes()), "e": b64(big.NewInt(int64(p.rsa.E)).Bytes())},
		map[string]any{"kty": "EC", "kid": "e", "alg": "ES256", "use": "sig", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])},
	}})
}

// authorize is the browser's visit: it gives the code that comes back.
func (p *provider) authorize(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, p.URL+"/authorize?") {
		t.Fatal(address, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	code := fmt.Sprint("code", len(p.codes))
	p.codes[code] = u.Query()
	return code
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	if !ok || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") != b64(sum[:]) || r.PostFormValue("redirect_uri") != q.Get("redirect_uri") ||
		id != "board" || secret != "client-secret" {
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	header := map[string]any{"alg": "RS256", "kid": "r", "typ": "JWT"}
	claims := map[string]any{"iss": p.URL, "sub": "sub-1", "aud": "board", "exp": now.Add(time.Minute).Unix(), "iat": now.Unix(), "nonce": q.Get("nonce"),
		"preferred_username": "anna", "groups": []string{"ops", "staff"}}
	maps.Copy(header, p.header)
	maps.Copy(claims, p.claims)
	h, _ := json.Marshal(header)
	c, _ := json.Marshal(claims)
	input := b64(h) + "." + b64(c)
	sign := p.sign
	if sign == nil {
		sign = (*provider).byRSA
	}
	answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": input + "." + b64(sign(p, input))})
}

func (p *provider) byRSA(input string) []byte { return signRSA(p.rsa, input) }

func signRSA(key *rsa.PrivateKey, input string) []byte {
	sum := sha256.Sum256([]byte(input))
	sig, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return sig
}

func (p *provider) byEC(input string) []byte {
	sum := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, p.ec, sum[:])
	if err != nil {
		panic(err)
	}
	return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
}

func (p *provider) issuer(t *testing.T, change ...func(*Options)) *Issuer {
	t.Helper()
	o := Options{Issuer: p.URL, ClientID: "board", Secret: "client-secret", RedirectURL: "https://board.example/login/oidc/callback"}
	for _, c := range change {
		c(&o)
	}
	i, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

const (
	state    = "state-of-this-attempt"
	nonce    = "nonce-of-this-attempt"
	verifier = "verifier-of-this-attempt-which-is-long-enough-to-be-one"
)

func TestTheIssuerIsAskedForACodeWithAllThatTiesItToTheAttempt(t *testing.T) {
	p := newProvider(t)
	to, err := p.issuer(t).Address(t.Context(), state, nonce, verifier)
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(to)
	q := u.Query()
	sum := sha256.Sum256([]byte(verifier))
	for name, want := range map[string]string{"response_type": "code", "client_id": "board", "redirect_uri": "https://board.example/login/oidc/callback", "state": state,
		"nonce": nonce, "code_challenge_method": "S256", "code_challenge": b64(sum[:]), "scope": "openid profile email"} {
		if q.Get(name) != want {
			t.Errorf("%s is %q", name, q.Get(name))
		}
	}
	if strings.Contains(to, verifier) || strings.Contains(to, "client-secret") {
		t.Error("a secret is in the address")
	}
}

func TestClaimsComeOutOfAGoodToken(t *testing.T) {
	for name, set := range map[string]func(*provider){
		"RS256":          func(*provider) {},
		"ES256":          func(p *provider) { p.header, p.sign = map[string]any{"alg": "ES256", "kid": "e"}, (*provider).byEC },
		"many audiences": func(p *provider) { p.claims = map[string]any{"aud": []string{"other", "board"}, "azp": "board"} },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			set(p)
			i := p.issuer(t)
			to, err := i.Address(t.Context(), state, nonce, verifier)
			if err != nil {
				t.Fatal(err)
			}
			c, err := i.Exchange(t.Context(), p.authorize(t, to), nonce, verifier)
			if err != nil || c.Issuer != p.URL || c.Subject != "sub-1" || c.Name != "anna" || strings.Join(c.Groups, ",") != "ops,staff" {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

func TestTokensThatAreNotForThisAttemptAreRefused(t *testing.T) {
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour).Unix()
	for name, set := range map[string]func(*provider){
		"another nonce":      func(p *provider) { p.claims = map[string]any{"nonce": "of another attempt"} },
		"no nonce":           func(p *provider) { p.claims = map[string]any{"nonce": nil} },
		"another audience":   func(p *provider) { p.claims = map[string]any{"aud": "other"} },
		"no audience":        func(p *provider) { p.claims = map[string]any{"aud": nil} },
		"another client":     func(p *provider) { p.claims = map[string]any{"azp": "other"} },
		"audiences, no azp":  func(p *provider) { p.claims = map[string]any{"aud": []string{"board", "other"}} },
		"another issuer":     func(p *provider) { p.claims = map[string]any{"iss": "https://evil.example"} },
		"the issuer, longer": func(p *provider) { p.claims = map[string]any{"iss": p.URL + "/"} },
		"expired":            func(p *provider) { p.claims = map[string]any{"exp": past} },
		"no expiry":          func(p *provider) { p.claims = map[string]any{"exp": nil} },
		"alg none": func(p *provider) {
			p.header, p.sign = map[string]any{"alg": "none"}, func(*provider, string) []byte { return nil }
		},
		"another key":      func(p *provider) { p.sign = func(_ *provider, in string) []byte { return signRSA(other, in) } },
		"another key's id": func(p *provider) { p.header = map[string]any{"kid": "e"} },
		"an unknown key":   func(p *provider) { p.header = map[string]any{"kid": "x"} },
		"HMAC by client secret": func(p *provider) {
			p.header, p.sign = map[string]any{"alg": "HS256", "kid": "r"}, func(_ *provider, in string) []byte { return hmacOf("client-secret", in) }
		},
		"HMAC by public key": func(p *provider) {
			p.header, p.sign = map[string]any{"alg": "HS256", "kid": "r"}, func(p *provider, in string) []byte { return hmacOf(string(p.rsa.N.Bytes()), in) }
		},
		"no signature": func(p *provider) { p.sign = func(*provider, string) []byte { return nil } },
		"a key of its own": func(p *provider) {
			p.header = map[string]any{"jwk": map[string]any{"kty": "RSA", "n": b64(other.N.Bytes()), "e": "AQAB"}, "kid": nil}
			p.sign = func(_ *provider, in string) []byte { return signRSA(other, in) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			set(p)
			i := p.issuer(t)
			to, err := i.Address(t.Context(), state, nonce, verifier)
			if err != nil {
				t.Fatal(err)
			}
			c, err := i.Exchange(t.Context(), p.authorize(t, to), nonce, verifier)
			if err == nil || fault.Of(err) != fault.Forbidden || c.Subject != "" {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

func hmacOf(key, input string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(input))
	return h.Sum(nil)
}

func TestCodesAreWorthNothingToOthers(t *testing.T) {
	p := newProvider(t)
	i := p.issuer(t)
	to, err := i.Address(t.Context(), state, nonce, verifier)
	if err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() error{
		"a code of nobody": func() error { _, err := i.Exchange(t.Context(), "guess", nonce, verifier); return err },
		"another verifier": func() error { _, err := i.Exchange(t.Context(), p.authorize(t, to), nonce, "x"+verifier); return err },
		"another secret": func() error {
			_, err := p.issuer(t, func(o *Options) { o.Secret = "wrong" }).Exchange(t.Context(), p.authorize(t, to), nonce, verifier)
			return err
		},
		"another address": func() error {
			_, err := p.issuer(t, func(o *Options) { o.RedirectURL = "https://evil.example/" }).Exchange(t.Context(), p.authorize(t, to), nonce, verifier)
			return err
		},
		"a code twice": func() error {
			code := p.authorize(t, to)
			if _, err := i.Exchange(t.Context(), code, nonce, verifier); err != nil {
				t.Error("once:", err)
			}
			_, err := i.Exchange(t.Context(), code, nonce, verifier)
			return err
		},
	} {
		err := try()
		if err == nil || fault.Of(err) != fault.Forbidden || strings.Contains(err.Error(), "client-secret") || strings.Contains(err.Error(), verifier) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnIssuerThatIsDownIsAskedAgainLaterAndNotByEverybody(t *testing.T) {
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
	asked := p.asked
	p.down = false
	p.mu.Unlock()
	if asked != 1 {
		t.Errorf("it was asked %d times within a moment", asked)
	}
	now = now.Add(retryAfter)
	if _, err := i.Address(t.Context(), state, nonce, verifier); err != nil {
		t.Error("it is up again:", err)
	}
}

func TestAnIssuersAnswersAreBoundedAndLeadNowhere(t *testing.T) {
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
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Address(t.Context(), state, nonce, verifier); fault.Of(err) != fault.Unavailable || led {
		t.Errorf("led elsewhere: %v, %v", led, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.issuer(t).Address(ctx, state, nonce, verifier); err == nil {
		t.Error("a context that is over")
	}
}

func TestOptionsThatCannotBeSafeAreRefused(t *testing.T) {
	good := Options{Issuer: "https://issuer.example", ClientID: "board", RedirectURL: "https://board.example/x"}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"no issuer": func(o *Options) { o.Issuer = "" }, "http": func(o *Options) { o.Issuer = "http://issuer.example" }, "no scheme": func(o *Options) { o.Issuer = "issuer.example" },
		"a password": func(o *Options) { o.Issuer = "https://a:b@issuer.example" }, "no client": func(o *Options) { o.ClientID = "" }, "no way back": func(o *Options) { o.RedirectURL = "" },
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil || fault.Of(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
