package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestUnsafeSignInOptionsAreRefusedWithAnExplanation(t *testing.T) {
	uri := must.Get(cluster.ParseURI("mongodb://127.0.0.1:1"))
	local := Auth{Mode: "local"}
	proxy := func(header string, networks ...string) Config {
		return Config{Auth: Auth{Mode: "proxy", ProxyHeader: header, ProxyCIDRs: networks}}
	}
	const board = "https://board.example"
	for name, tc := range map[string]struct {
		c    Config
		says string
	}{
		"no choice":                     {Config{}, "--auth"},
		"no such way":                   {Config{Auth: Auth{Mode: "everybody"}}, "Unknown sign-in method"},
		"both":                          {Config{Auth: Auth{Mode: "none,local"}}, "both off and on"},
		"none for the network":          {Config{Listen: "0.0.0.0:0", Auth: Auth{Mode: " none "}}, "nobody has to sign in"},
		"none for the network with TLS": {Config{Listen: ":0", Auth: Auth{Mode: "none"}, TLSByProxy: true, PublicURL: board}, "nobody has to"},
		"demo for the network": {Config{Demo: true, Listen: "[::]:0", Auth: Auth{Mode: "demo"}},
			"nobody has to sign in to a demo"},
		"demo over a real cluster": {Config{Auth: Auth{Mode: "demo"}}, "not simulated"},
		"none under another name": {Config{Auth: Auth{Mode: "none"}, Hosts: []string{"localhost", "board.example:1"}},
			"nobody has to sign in"},
		"a proxy without a name":    {Config{Auth: local, TLSByProxy: true}, "--public-url"},
		"none behind a name":        {Config{Auth: Auth{Mode: "none"}, TLSByProxy: true, PublicURL: board}, "nobody has to sign in"},
		"no TLS":                    {Config{Auth: local, Listen: "0.0.0.0:0", PublicURL: board}, "--tls-cert"},
		"a name without TLS":        {Config{Auth: local, PublicURL: "http://board.example"}, "not https"},
		"https without TLS":         {Config{Auth: local, PublicURL: board}, "--tls-terminated-by-proxy"},
		"TLS and http":              {Config{Auth: local, TLSByProxy: true, PublicURL: "http://board.example"}, "https://"},
		"no name":                   {Config{Auth: local, Listen: "0.0.0.0:0", TLSByProxy: true}, "--public-url"},
		"a certificate without key": {Config{Auth: local, TLSCert: "x"}, "--tls-key"},
		"a proxy from anywhere":     {proxy("X-User", "::/0"), "covers too many addresses"},
		"a proxy from two halves":   {proxy("X-User", "10.0.0.1", "0.0.0.0/1", "128.0.0.0/1"), "covers too many addresses"},
		"a role in the name": {Config{Auth: Auth{Mode: "proxy", ProxyHeader: "X-U", ProxyRoleHeader: "x-u", ProxyCIDRs: []string{"10.0.0.1"}}},
			"the role"},
		"a cookie as the name":   {proxy("Cookie", "10.0.0.1"), "Cookie"},
		"a header that is none":  {proxy("Bad Header", "10.0.0.1"), "not a valid header name"},
		"forwarded by everybody": {Config{Auth: Auth{Mode: "local", ProxyCIDRs: []string{"8000::/1"}}}, "covers too many addresses"},
		"a proxy from nowhere":   {proxy("X-User"), "--proxy-cidr"},
		"a network that is none": {proxy("X-User", "10.0.0.0/99"), "not an address"},
		"OIDC without issuer":    {Config{Auth: Auth{Mode: "oidc"}}, "OIDC"},
		"no port":                {Config{Auth: local, Listen: "127.0.0.1"}, "host:port"},
		"a query in the address": {Config{Auth: local, TLSByProxy: true, PublicURL: board + "/x?y"}, "is not like https://host"},
	} {
		tc.c.URI, tc.c.Listen, tc.c.Log = uri, cmp.Or(tc.c.Listen, "127.0.0.1:0"), slog.New(slog.DiscardHandler)
		if a, err := New(t.Context(), tc.c); a != nil || fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), tc.says) {
			t.Errorf("%s: %v; want %q", name, err, tc.says)
		}
	}
}

// startBeside starts another dashboard over the demo's cluster.
func (d *demo) startBeside(t testing.TB, c Config) *App {
	t.Helper()
	c.URI, c.Version = d.config.URI, "test"
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Auth.Cost = auth.Cost{Memory: 64, Time: 1}
	a, err := New(t.Context(), c)
	must.Do(t, err)
	a.Start()
	t.Cleanup(func() {
		expect.NoError(t, a.Stop(context.Background()), "Stop")
	})
	return a
}

func statusOf(t *testing.T, client *http.Client, address string) int {
	t.Helper()
	res, err := client.Get(address)
	must.Do(t, err)
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// sessionClient returns a client that keeps cookies and follows no redirects.
func sessionClient(t testing.TB) *http.Client {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar, Timeout: time.Minute,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 10, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

const annasPassword = "correct horse battery"

// firstSignIn makes the first admin, anna, at an address of a server with the link of another one or the same. It
// returns the key of the link and the cookies that the client got.
func firstSignIn(t testing.TB, a *App, client *http.Client, base string) (key string, cookies []*http.Cookie) {
	t.Helper()
	link, err := a.FirstLink(t.Context())
	must.Do(t, err)
	u := must.Get(url.Parse(link))
	key = u.Query().Get("key")
	res, err := client.PostForm(base+"login/first", url.Values{"key": {key}, "name": {"anna"}, "password": {annasPassword}})
	must.Do(t, err)
	_ = res.Body.Close()
	must.That(t, len(res.Cookies()) != 0, "the first sign-in with %s failed: %s", link, res.Status)
	return key, res.Cookies()
}

func TestSessionsWorkFromTheFirstSignInAcrossARestart(t *testing.T) {
	d := stillDemo()
	nobody, anna, dir := sessionClient(t), sessionClient(t), t.TempDir()
	var log bytes.Buffer
	c := Config{URI: d.config.URI, Listen: "127.0.0.1:0", DataDir: dir,
		Log:  slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Auth: Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}}}
	first, err := New(t.Context(), c)
	must.Do(t, err)
	first.Start()

	got := statusOf(t, nobody, first.URL())
	expect.That(t, got == http.StatusSeeOther, "a page returns %d to anonymous requests", got)
	got = statusOf(t, nobody, first.URL()+"api/v1/cluster")
	expect.That(t, got == http.StatusUnauthorized, "the API returns %d to anonymous requests", got)
	key, cookies := firstSignIn(t, first, anna, first.URL())
	got = statusOf(t, anna, first.URL()+"api/v1/users")
	must.That(t, got == http.StatusOK, "the users page of the first admin returns %d", got)

	second := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: dir, Auth: Auth{Mode: "local"}})
	expect.That(t, !first.ReadOnly() && second.ReadOnly(), "two processes own one directory")
	expect.Equal(t, statusOf(t, nobody, second.URL()+"login"), http.StatusOK, "a page of the second process")

	must.Do(t, first.Stop(t.Context()))
	c.Listen = first.Addr()
	again, err := New(t.Context(), c)
	must.Do(t, err)
	again.Start()
	expect.Equal(t, statusOf(t, anna, again.URL()+"api/v1/users"), http.StatusOK, "after a restart a page with the session returns")
	if link, err := again.FirstLink(t.Context()); link != "" || err != nil {
		t.Error("a first link exists although there is a user", err)
	}
	expect.NoError(t, again.Stop(t.Context()), "Stop")
	expect.LacksAll(t, log.String(), []string{key, annasPassword, cookies[0].Value}, "a secret is in the log")
}

func TestTLSIsServedWithSecureCookies(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key, "one")
	a := stillDemo().startBeside(t, Config{Listen: "127.0.0.1:0", TLSCert: cert, TLSKey: key, Auth: Auth{Mode: "local"}})
	_, cookies := firstSignIn(t, a, sessionClient(t), a.URL())
	if c := cookies[0]; !strings.HasPrefix(a.URL(), "https://") || len(cookies) != 1 || !c.Secure || c.Name != "__Host-shardboard" {
		t.Errorf("unexpected cookies at %s: %+v", a.URL(), cookies)
	}
	_, err := tls.Dial("tcp", a.Addr(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11})
	expect.That(t, err != nil, "TLS 1.1 is accepted")
}
