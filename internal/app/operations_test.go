package app

import (
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// Metrics at an address of their own can need a token and TLS; health needs no token, because those who check it have
// none.
func TestMetricsNeedTheTokenOfTheirAddress(t *testing.T) {
	dir := t.TempDir()
	cert, key, token := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "token")
	writeCertificate(t, cert, key, "ops")
	write := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(token, []byte(text), 0o600))
	}
	write("first\n")
	a := stillDemo().startBeside(t, Config{Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0", Auth: Auth{Mode: "none"},
		OpsTLSCert: cert, OpsTLSKey: key, OpsTokenFile: token})
	if !strings.HasPrefix(a.OpsURL(), "https://127.0.0.1:") {
		t.Error(a.OpsURL())
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	ask := func(path string, prove func(*http.Request)) (int, http.Header) {
		t.Helper()
		r := must.Get(http.NewRequestWithContext(t.Context(), "GET", a.OpsURL()+path, nil))
		prove(r)
		res, err := client.Do(r)
		must.Do(t, err)
		res.Body.Close()
		return res.StatusCode, res.Header
	}
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	basic := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth("prometheus", token) }
	}
	none := func(*http.Request) {}
	check := func(path string, prove func(*http.Request), want int) {
		t.Helper()
		if got, header := ask(path, prove); got != want || want == 401 && len(header.Values("Www-Authenticate")) != 2 {
			t.Errorf("%s: %d, want %d; %v", path, got, want, header)
		}
	}
	check("/healthz", none, 200)
	for _, right := range []func(*http.Request){bearer("first"), basic("first")} {
		check("/metrics", right, 200)
	}
	for _, wrong := range []func(*http.Request){none, bearer(""), bearer("firs"), basic(""), basic("second"),
		func(r *http.Request) { r.Header.Set("Authorization", "first") }} {
		check("/metrics", wrong, 401)
	}
	write("second")
	check("/metrics", bearer("first"), 401)
	check("/metrics", bearer("second"), 200)
	write("")
	check("/metrics", bearer(""), 503)
	for name, c := range map[string]Config{
		"a key is missing": {OpsListen: ":1", OpsTLSCert: cert}, "nothing to protect": {OpsTokenFile: token},
		"no token": {OpsListen: ":1", OpsTokenFile: token}, "no file": {OpsListen: ":1", OpsTokenFile: token + "x"},
	} {
		expect.That(t, c.checkOperations() != nil, "%s: accepted", name)
	}
}

// An issuer whose certificate no system knows is reached with its authority.
func TestTheIssuersCertificateIsFromTheGivenAuthority(t *testing.T) {
	i := newIssuerServer(t, "oncall")
	i.StartTLS()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
	must.Do(t, os.WriteFile(ca, text, 0o600))
	for _, c := range []struct {
		file string
		want int
	}{{ca, http.StatusOK}, {"", http.StatusServiceUnavailable}} {
		a := stillDemo().startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), Auth: Auth{Mode: "oidc",
			Cost: auth.Cost{Memory: 64, Time: 1},
			OIDC: OIDC{Issuer: i.URL, ClientID: "board", CAFile: c.file, Roles: map[string]string{"oncall": "operator"}}}})
		client := newCookieClient(t)
		client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the browser's own affair
		status, path, body := clickOIDC(t, client, a.URL(), "/zones")
		expect.That(t, status == c.want, "with %q: %d at %s: %.300s", c.file, status, path, body)
	}
	must.Do(t, os.WriteFile(ca, []byte("no certificate"), 0o600))
	c := Config{Listen: "127.0.0.1:0", Auth: Auth{Mode: "local", OIDC: OIDC{CAFile: ca}}}
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "no certificate in PEM format") {
		t.Error(err)
	}
}
