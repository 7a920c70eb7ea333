package app

import (
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// issuer is an OpenID Connect issuer that signs everybody in as anna without a form. It
// is down until its listener is served.
type issuer struct {
	*httptest.Server
	key *rsa.PrivateKey

	ends bool // it has an address for signing out

	mu     sync.Mutex
	groups []string
	nonce  string
	kid    string // id of the key; "" is r
}

// rotate replaces the key.
func (i *issuer) rotate(t *testing.T) {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key, i.kid = key, "rotated"
}

func newIssuerServer(t *testing.T, groups ...string) *issuer {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))
	i := &issuer{key: key, groups: groups}
	i.Server = httptest.NewUnstartedServer(http.HandlerFunc(i.serve))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	b64 := base64.RawURLEncoding.EncodeToString
	var answer any
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		doc := map[string]any{"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"jwks_uri": i.URL + "/keys"}
		if answer = doc; i.ends {
			doc["end_session_endpoint"] = i.URL + "/end?x=y"
		}
	case "/keys":
		answer = map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": cmp.Or(i.kid, "r"), "alg": "RS256",
			"n": b64(i.key.N.Bytes()), "e": "AQAB"}}}
	case "/authorize":
		q := r.URL.Query()
		i.nonce = q.Get("nonce")
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
		return
	case "/token":
		claims, _ := json.Marshal(map[string]any{"iss": i.URL, "sub": "1", "aud": "board", "exp": time.Now().Add(time.Minute).Unix(),
			"nonce": i.nonce, "preferred_username": "anna", "groups": i.groups})
		input := b64([]byte(`{"alg":"RS256","kid":"`+cmp.Or(i.kid, "r")+`"}`)) + "." + b64(claims)
		sum := sha256.Sum256([]byte(input))
		sig, _ := rsa.SignPKCS1v15(nil, i.key, crypto.SHA256, sum[:])
		answer = map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": input + "." + b64(sig)}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// newCookieClient returns a client that keeps cookies and follows redirects.
func newCookieClient(t *testing.T) *http.Client {
	t.Helper()
	jar := must.Get(cookiejar.New(nil))
	return &http.Client{Jar: jar, Timeout: time.Minute}
}

func visit(t *testing.T, client *http.Client, address string) (int, string, string) {
	t.Helper()
	res, err := client.Get(address)
	must.Do(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must.Do(t, err)
	return res.StatusCode, res.Request.URL.Path, string(body)
}

// clickOIDC clicks the button of the sign-in page and follows the redirects like a
// browser.
func clickOIDC(t *testing.T, client *http.Client, base, next string) (int, string, string) {
	t.Helper()
	res, err := client.PostForm(base+"login/oidc", url.Values{"next": {next}})
	must.Do(t, err)
	defer res.Body.Close()
	if _, to, ok := strings.Cut(res.Header.Get("Refresh"), "url="); ok {
		return visit(t, client, to)
	}
	body, err := io.ReadAll(res.Body)
	must.Do(t, err)
	return res.StatusCode, res.Request.URL.Path, string(body)
}

func TestOIDCSignInWorksAlthoughTheIssuerWasDownAtTheStart(t *testing.T) {
	d := stillDemo()
	dir := t.TempDir()
	local, err := OpenAccounts(t.Context(), StorePlace{Dir: dir}, "", slog.New(slog.DiscardHandler))
	must.Do(t, err)
	must.Do(t, must.Err(local.BreakGlass(t.Context(), "", "correct horse battery")))
	must.Do(t, local.Close())
	i := newIssuerServer(t, "oncall")
	address := "http://" + i.Listener.Addr().String()
	_ = i.Listener.Close() // the issuer is down
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: dir, Auth: Auth{Mode: "oidc", Cost: auth.Cost{},
		OIDC: OIDC{Issuer: address, ClientID: "board", Roles: map[string]string{"oncall": "operator"}}}})

	emergency := newCookieClient(t)
	res, err := emergency.PostForm(a.URL()+"login", url.Values{"name": {"break-glass"}, "password": {"correct horse battery"}})
	must.Do(t, err)
	res.Body.Close()
	if _, _, body := visit(t, emergency, a.URL()+"api/v1/me"); !strings.Contains(body, `"break-glass"`) || !strings.Contains(body, `"admin"`) {
		t.Errorf("break-glass does not work while the issuer is down: %s", body)
	}

	l := must.Get(net.Listen("tcp", strings.TrimPrefix(address, "http://")))
	i.Listener = l
	i.Start()
	anna := newCookieClient(t)
	code, path, body := clickOIDC(t, anna, a.URL(), "/zones")
	must.That(t, code == http.StatusOK && path == "/zones", "sign-in ended with status %d at %s: %s", code, path, body)
	_, _, body = visit(t, anna, a.URL()+"api/v1/me")
	expect.That(t, strings.Contains(body, `"operator"`) && strings.Contains(body, `"oidc"`) &&
		strings.Contains(body, `"anna"`), "the signed-in user is %s", body)
	_, _, body = visit(t, emergency, a.URL()+"audit")
	expect.That(t, strings.Contains(body, ">anna<") && strings.Contains(body, "Id at the issuer: 1"),
		"the audit record does not show the user's name and id")
	i.mu.Lock()
	i.groups = []string{"strangers"}
	i.mu.Unlock()
	code, _, body = clickOIDC(t, newCookieClient(t), a.URL(), "")
	expect.That(t, code == http.StatusForbidden && strings.Contains(body, "group"), "a user without a role: status %d: %s", code, body)
}

// Signing out here signs out at the issuer where that is asked for and offered; otherwise the page says that it does
// not.
func TestSigningOutEndsTheIssuersSessionOrSaysThatItDoesNot(t *testing.T) {
	for _, c := range []struct{ offered, asked bool }{{true, true}, {true, false}, {false, true}} {
		i := newIssuerServer(t, "oncall")
		i.ends = c.offered
		i.Start()
		a := stillDemo().startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), Auth: Auth{Mode: "oidc", EndIssuer: c.asked,
			OIDC: OIDC{Issuer: i.URL, ClientID: "board", Roles: map[string]string{"oncall": "operator"}}}})
		client := newCookieClient(t)
		if status, path, body := clickOIDC(t, client, a.URL(), "/zones"); status != http.StatusOK || path != "/zones" {
			t.Fatalf("%d at %s: %.200s", status, path, body)
		}
		res, err := client.PostForm(a.URL()+"logout", nil)
		must.Do(t, err)
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		must.Do(t, err)
		want := ""
		if c.offered && c.asked {
			q := url.Values{"client_id": {"board"}, "post_logout_redirect_uri": {a.URL() + "login"}, "x": {"y"}}
			want = "0; url=" + i.URL + "/end?" + q.Encode()
		}
		if got := res.Header.Get("Refresh"); got != want || strings.Contains(string(body), "at the issuer goes on") != (want == "") {
			t.Errorf("%+v: led to %q, want %q: %s", c, got, want, body)
		}
		_, path, _ := visit(t, client, a.URL()+"zones")
		expect.Equal(t, path, "/login", "%+v: still signed in, at", c)
	}
}
