package proxies

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

const clientID = "board"

// issuer is an OpenID Connect issuer at which everybody is anna, an operator. It sends browsers only to the registered
// address.
type issuer struct {
	*httptest.Server
	key *rsa.PrivateKey

	mu     sync.Mutex
	back   string            // the registered address
	nonces map[string]string // by code
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	s := &issuer{key: key, nonces: map[string]string{}}
	mux := http.NewServeMux()
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize",
			"token_endpoint": s.URL + "/token",
			"jwks_uri":       s.URL + "/keys", "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"keys": []any{map[string]string{"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig",
			"n": encoded(key.N.Bytes()), "e": encoded(big.NewInt(int64(key.E)).Bytes())}}})
	})
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	return s
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (s *issuer) register(back string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back = back
}

func (s *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Get("redirect_uri") != s.back {
		http.Error(w, fmt.Sprintf("%q is not registered, %q is", q.Get("redirect_uri"), s.back), http.StatusBadRequest)
		return
	}
	code := rand.Text()
	s.nonces[code] = q.Get("nonce")
	http.Redirect(w, r, s.back+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

func (s *issuer) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	nonce, known := s.nonces[r.PostFormValue("code")]
	if !known || r.PostFormValue("redirect_uri") != s.back {
		http.Error(w, `{"error": "invalid_grant"}`, http.StatusBadRequest)
		return
	}
	claims, _ := json.Marshal(map[string]any{"iss": s.URL, "sub": "7a1", "aud": clientID, "exp": time.Now().Add(time.Hour).Unix(),
		"iat": time.Now().Unix(), "nonce": nonce, "preferred_username": "anna", "groups": []string{"ops"}})
	text := encoded([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + encoded(claims)
	sum := sha256.Sum256([]byte(text))
	seal, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "expires_in": 3600, "id_token": text + "." + encoded(seal)})
}
