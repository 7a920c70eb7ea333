package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

func TestUnsafeSignInOptionsAreRefusedWithAnExplanation(t *testing.T) {
	uri, err := cluster.ParseURI("mongodb://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	local := func(c *Config) { c.Auth.Mode = "local" }
	for name, tc := range map[string]struct {
		set  func(*Config)
		says string
	}{
		"no choice":            {func(c *Config) {}, "--auth"},
		"no such way":          {func(c *Config) { c.Auth.Mode = "everybody" }, "Unknown sign-in method"},
		"both":                 {func(c *Config) { c.Auth.Mode = "none,local" }, "both off and on"},
		"none for the network": {func(c *Config) { c.Listen, c.Auth.Mode = "0.0.0.0:0", " none " }, "nobody has to sign in"},
		"none for the network with TLS": {func(c *Config) {
			c.Listen, c.Auth.Mode, c.TLSByProxy, c.PublicURL = ":0", "none", true, "https://board.example"
		}, "nobody has to sign in"},
		"demo for the network": {func(c *Config) { c.Demo, c.Listen, c.Auth.Mode = true, "[::]:0", "demo" },
			"nobody has to sign in to a demo"},
		"demo over a real cluster": {func(c *Config) { c.Auth.Mode = "demo" }, "not simulated"},
		"none under another name": {func(c *Config) { c.Auth.Mode, c.Hosts = "none", []string{"localhost", "board.example:1"} },
			"nobody has to sign in"},
		"a proxy without a name": {func(c *Config) { local(c); c.TLSByProxy = true }, "--public-url"},
		"none behind a name": {func(c *Config) { c.Auth.Mode, c.TLSByProxy, c.PublicURL = "none", true, "https://board.example" },
			"nobody has to sign in"},
		"no TLS":                    {func(c *Config) { local(c); c.Listen, c.PublicURL = "0.0.0.0:0", "https://board.example" }, "--tls-cert"},
		"a name without TLS":        {func(c *Config) { local(c); c.PublicURL = "http://board.example" }, "not https"},
		"https by nobody":           {func(c *Config) { local(c); c.PublicURL = "https://board.example" }, "--tls-terminated-by-proxy"},
		"TLS and http":              {func(c *Config) { local(c); c.TLSByProxy, c.PublicURL = true, "http://board.example" }, "https://"},
		"no name":                   {func(c *Config) { local(c); c.Listen, c.TLSByProxy = "0.0.0.0:0", true }, "--public-url"},
		"a certificate without key": {func(c *Config) { local(c); c.TLSCert = "x" }, "--tls-key"},
		"a proxy from anywhere": {func(c *Config) {
			c.Auth = Auth{Mode: "proxy", ProxyHeader: "X-User",
				ProxyCIDRs: []string{"::/0"}}
		}, "covers too many addresses"},
		"a proxy from two halves": {func(c *Config) {
			c.Auth = Auth{Mode: "proxy", ProxyHeader: "X-User", ProxyCIDRs: []string{"10.0.0.1", "0.0.0.0/1", "128.0.0.0/1"}}
		}, "covers too many addresses"},
		"a role in the name": {func(c *Config) {
			c.Auth = Auth{Mode: "proxy", ProxyHeader: "X-U", ProxyRoleHeader: "x-u", ProxyCIDRs: []string{"10.0.0.1"}}
		}, "the role"},
		"a cookie as the name": {func(c *Config) {
			c.Auth = Auth{Mode: "proxy", ProxyHeader: "Cookie",
				ProxyCIDRs: []string{"10.0.0.1"}}
		}, "Cookie"},
		"a header that is none": {func(c *Config) {
			c.Auth = Auth{Mode: "proxy", ProxyHeader: "Bad Header", ProxyCIDRs: []string{"10.0.0.1"}}
		}, "not a valid header name"},
		"forwarded by everybody": {func(c *Config) { c.Auth = Auth{Mode: "local", ProxyCIDRs: []string{"8000::/1"}} },
			"covers too many addresses"},
		"a proxy from nowhere": {func(c *Config) { c.Auth = Auth{Mode: "proxy", ProxyHeader: "X-User"} }, "--proxy-cidr"},
		"a network that is none": {func(c *Config) {
			c.Auth = Auth{Mode: "proxy", ProxyHeader: "X-User", ProxyCIDRs: []string{"10.0.0.0/99"}}
		}, "not an address"},
		"OIDC without issuer": {func(c *Config) { c.Auth = Auth{Mode: "oidc"} }, "OIDC"},
		"no port":             {func(c *Config) { local(c); c.Listen = "127.0.0.1" }, "host:port"},
		"a path in the address": {func(c *Config) { local(c); c.TLSByProxy, c.PublicURL = true, "https://board.example/x" },
			"is not https://host"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Config{URI: uri, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)}
			tc.set(&c)
			a, err := New(t.Context(), c)
			if a != nil || fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), tc.says) {
				t.Errorf("%v; want %q", err, tc.says)
			}
		})
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
	if err != nil {
		t.Fatal(err)
	}
	a.Start()
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a
}

func statusOf(t *testing.T, client *http.Client, address string) int {
	t.Helper()
	res, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func TestSessionsWorkFromTheFirstSignInAcrossARestart(t *testing.T) {
	d := startDemo(t, quietCluster(), topology.Options{})
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	dir := t.TempDir()
	var log bytes.Buffer
	c := Config{
		URI:     d.config.URI,
		Listen:  "127.0.0.1:0",
		DataDir: dir,
		Log:     slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Auth:    Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}},
	}
	first, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	first.Start()

	if got := statusOf(t, stay, first.URL()); got != http.StatusSeeOther {
		t.Errorf("a page returns %d to anonymous requests", got)
	}
	if got := statusOf(t, stay, first.URL()+"api/v1/cluster"); got != http.StatusUnauthorized {
		t.Errorf("the API returns %d to anonymous requests", got)
	}
	link, err := first.FirstLink(t.Context())
	if err != nil || link == "" {
		t.Fatal(link, err)
	}
	u, _ := url.Parse(link)
	key := u.Query().Get("key")
	if got := statusOf(t, stay, link); got != http.StatusOK {
		t.Errorf("the page of the first link returns %d", got)
	}
	jar, _ := cookiejar.New(nil)
	anna := &http.Client{Jar: jar, CheckRedirect: stay.CheckRedirect}
	res, err := anna.PostForm(first.URL()+"login/first", url.Values{"key": {key}, "name": {"anna"}, "password": {"correct horse battery"}})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := statusOf(t, anna, first.URL()+"api/v1/users"); got != http.StatusOK {
		t.Fatalf("the users page of the first admin returns %d", got)
	}

	second := d.startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: dir, Auth: Auth{Mode: "local"}})
	if first.ReadOnly() || !second.ReadOnly() {
		t.Error("two processes own one directory")
	}
	if got := statusOf(t, stay, second.URL()+"login"); got != http.StatusOK {
		t.Errorf("a page of the second process returns %d", got)
	}

	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Listen = first.Addr()
	again, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	again.Start()
	if got := statusOf(t, anna, again.URL()+"api/v1/users"); got != http.StatusOK {
		t.Errorf("after a restart a page with the session returns %d", got)
	}
	if link, err := again.FirstLink(t.Context()); link != "" || err != nil {
		t.Error("a first link exists although there is a user", err)
	}
	if err := again.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for _, secret := range []string{key, "correct horse battery", jar.Cookies(u)[0].Value} {
		if strings.Contains(log.String(), secret) {
			t.Error("a secret is in the log")
		}
	}
}

func TestHealthAndMetricsHaveTheirOwnListenerBeyondLoopback(t *testing.T) {
	d := startDemo(t, quietCluster(), topology.Options{})
	a := d.startBeside(
		t,
		Config{Listen: "0.0.0.0:0", OpsListen: "127.0.0.1:0", TLSByProxy: true, PublicURL: "https://board.example", Auth: Auth{Mode: "local"}},
	)
	_, port, _ := net.SplitHostPort(a.Addr())
	ask := func(addr, host, path string) int {
		t.Helper()
		r, err := http.NewRequest("GET", "http://"+addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	near := "127.0.0.1:" + port
	if a.OpsAddr() == a.Addr() {
		t.Fatal("there is no separate listener")
	}
	for path, want := range map[string]int{"/metrics": 200, "/healthz": 200, "/": 404, "/api/v1/cluster": 404, "/login": 404} {
		if got := ask(a.OpsAddr(), a.OpsAddr(), path); got != want {
			t.Errorf("%s on the separate listener: status %d", path, got)
		}
	}
	if got := ask(near, "board.example", "/metrics"); got == 200 {
		t.Error("metrics are open to the network")
	}
	for host, want := range map[string]int{"board.example": 303, "evil.example": 421, "": 303} {
		if host == "" {
			continue
		}
		if got := ask(near, host, "/"); got != want {
			t.Errorf("host %s: status %d", host, got)
		}
	}
	if a.URL() != "https://board.example/" {
		t.Error(a.URL())
	}
}

// writeCertificate writes a self-signed certificate for loopback.
func writeCertificate(t *testing.T, cert, key, name string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: text}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTLSIsServedWithSecureCookies(t *testing.T) {
	d := startDemo(t, quietCluster(), topology.Options{})
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key, "one")
	a := d.startBeside(t, Config{Listen: "127.0.0.1:0", TLSCert: cert, TLSKey: key, Auth: Auth{Mode: "local"}})
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	link, err := a.FirstLink(t.Context())
	if err != nil || !strings.HasPrefix(link, "https://") {
		t.Fatal(link, err)
	}
	u, _ := url.Parse(link)
	res, err := client.PostForm(
		a.URL()+"login/first",
		url.Values{"key": {u.Query().Get("key")}, "name": {"anna"}, "password": {"correct horse battery"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if c := res.Cookies(); len(c) != 1 || !c[0].Secure || c[0].Name != "__Host-shardboard" || res.TLS == nil ||
		res.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%+v", c)
	}
	if _, err := tls.Dial("tcp", a.Addr(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("TLS 1.1 is accepted")
	}
}

func TestAReplacedCertificateIsReloaded(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key, "one")
	c, err := openCertificate(cert, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	c.now = func() time.Time { return now }
	name := func() string {
		t.Helper()
		now = now.Add(certificateCheckInterval)
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.Subject.CommonName
	}
	replaced := func(at time.Time) {
		for _, path := range []string{cert, key} {
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(cert, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	replaced(now.Add(time.Hour))
	if got := name(); got != "one" {
		t.Errorf("an invalid file replaced the certificate by %q", got)
	}
	writeCertificate(t, cert, key, "two")
	replaced(now.Add(2 * time.Hour))
	if got := name(); got != "two" {
		t.Errorf("the reloaded certificate is %q", got)
	}
	if _, err := openCertificate(cert, "/no/such/key", slog.New(slog.DiscardHandler)); fault.Of(err) != fault.Invalid {
		t.Error(err)
	}
}
