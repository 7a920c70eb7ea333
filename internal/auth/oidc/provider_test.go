package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
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

	"shardboard/internal/auth"
	"shardboard/internal/fixture/must"
)

// provider is a small OpenID Connect issuer in this process. Its token endpoint checks the client,
// the redirect address and PKCE like a strict one.
type provider struct {
	*httptest.Server
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey

	mu          sync.Mutex
	down        bool
	huge        bool
	codes       map[string]url.Values // query of the authorization request, by code
	header      map[string]any        // merged into the token's header
	claims      map[string]any
	without     []string // claims to leave out of the token
	sign        func(p *provider, input string) []byte
	discoveries int // discovery requests

	more       map[string]any                               // added to the discovery document
	info       map[string]any                               // UserInfo's claims; nil: no such endpoint
	answerInfo func(w http.ResponseWriter, r *http.Request) // instead of info
	infos      int                                          // requests for UserInfo
	whole      string                                       // replaces the ID token; "-" is none
	// "header" or "form", the only place where the secret is accepted; "" accepts both
	secretIn  string
	exchanges int    // requests for a token
	refuse    string // the token endpoint's error code
	iss       string // parameter of the callback
	granted   string // scope of the token endpoint's answer
}

// rsaKey is generated once because that is slow.
var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := newUnservedProvider(t)
	p.Server = httptest.NewServer(p.handler())
	t.Cleanup(p.Close)
	return p
}

// newUnservedProvider is a provider without a Server.
func newUnservedProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{codes: map[string]url.Values{}, rsa: rsaKey()}
	p.ec = must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	return p
}

func (p *provider) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userInfo)
	return mux
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.discoveries++
	if p.down {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	doc := map[string]any{
		"issuer":                                p.URL,
		"authorization_endpoint":                p.URL + "/authorize",
		"token_endpoint":                        p.URL + "/token",
		"jwks_uri":                              p.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"},
	}
	if p.info != nil || p.answerInfo != nil {
		doc["userinfo_endpoint"] = p.URL + "/userinfo"
	}
	maps.Copy(doc, p.more)
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
		map[string]any{
			"kty": "RSA",
			"kid": "r",
			"alg": "RS256",
			"use": "sig",
			"n":   b64(p.rsa.N.Bytes()),
			"e":   b64(big.NewInt(int64(p.rsa.E)).Bytes()),
		},
		map[string]any{"kty": "EC", "kid": "e", "alg": "ES256", "use": "sig", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])},
	}})
}

// authorize visits the authorization endpoint as a browser and returns what it is sent back with.
func (p *provider) authorize(t *testing.T, address string) auth.Callback {
	t.Helper()
	u, err := url.Parse(address)
	must.That(t, err == nil && strings.HasPrefix(address, p.URL+"/authorize?"), "%v %v", address, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	code := fmt.Sprint("code", len(p.codes))
	p.codes[code] = u.Query()
	return auth.Callback{Code: code, Issuer: p.iss}
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
	p.exchanges++
	if p.secretIn != "" && p.secretIn != map[bool]string{true: "header", false: "form"}[basic] {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		answer(w, map[string]any{"error": "invalid_client"})
		p.codes[r.PostFormValue("code")] = q // only a known client uses up a code
		return
	}
	if !ok || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") != b64(sum[:]) ||
		r.PostFormValue("redirect_uri") != q.Get("redirect_uri") ||
		id != "board" ||
		secret != "client-secret" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	if p.refuse != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]any{"error": p.refuse, "error_description": "client-secret of board is wrong"})
		return
	}
	header := map[string]any{"alg": "RS256", "kid": "r", "typ": "JWT"}
	now := time.Now()
	claims := map[string]any{
		"iss":                p.URL,
		"sub":                "sub-1",
		"aud":                "board",
		"exp":                now.Add(time.Minute).Unix(),
		"iat":                now.Unix(),
		"nonce":              q.Get("nonce"),
		"preferred_username": "anna",
		"groups":             []string{"ops", "staff"},
	}
	maps.Copy(header, p.header)
	maps.Copy(claims, p.claims)
	for _, name := range p.without {
		delete(claims, name)
	}
	out := map[string]any{"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": p.signed(header, claims)}
	if p.whole != "" {
		out["id_token"] = strings.TrimPrefix(p.whole, "-")
	}
	if p.granted != "" {
		out["scope"] = p.granted
	}
	answer(w, out)
}

// signed returns a JWT.
func (p *provider) signed(header, claims map[string]any) string {
	h, _ := json.Marshal(header)
	c, _ := json.Marshal(claims)
	input := b64(h) + "." + b64(c)
	sign := p.sign
	if sign == nil {
		sign = (*provider).byRSA
	}
	return input + "." + b64(sign(p, input))
}

func (p *provider) userInfo(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.infos++
	switch {
	case p.answerInfo != nil:
		p.answerInfo(w, r)
	case r.Header.Get("Authorization") != "Bearer a":
		w.WriteHeader(http.StatusUnauthorized)
	default:
		answer(w, p.info)
	}
}

// signIn runs a whole sign-in.
func (p *provider) signIn(t *testing.T, i *Issuer) (auth.Claims, error) {
	t.Helper()
	to, err := i.Address(t.Context(), state, nonce, verifier)
	must.Do(t, err)
	return i.Exchange(t.Context(), p.authorize(t, to), nonce, verifier)
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
	must.Do(t, err)
	return i
}
