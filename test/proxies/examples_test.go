package proxies

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// program is a proxy as a test starts it.
type program struct {
	name    string
	inEvery bool // every distribution has it, so CI has to
	// below is what docs/install.md says to change to serve below a path: from, to, from, to.
	below []string
	// whole is the configuration that an example is a part of, and run the command that serves it in the foreground.
	whole func(example, dir string) string
	run   func(file, dir string) []string
}

var programs = []program{
	{
		name: "nginx", inEvery: true, below: []string{"location / {", "location /shardboard/ {"},
		whole: func(example, dir string) string {
			out := "daemon off; pid " + dir + "/pid; error_log stderr; events {}\nhttp { access_log off;\n"
			for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
				out += kind + "_temp_path " + dir + ";\n"
			}
			return out + example + "}\n"
		},
		run: func(file, dir string) []string { return []string{"nginx", "-e", "stderr", "-p", dir, "-c", file} },
	},
	{
		name: "apache2", inEvery: true,
		below: []string{"ProxyPass / http://127.0.0.1:8090/ ", "ProxyPass /shardboard/ http://127.0.0.1:8090/shardboard/ "},
		whole: func(example, dir string) string {
			out := "ServerName localhost\nPidFile " + dir + "/pid\nErrorLog /dev/stderr\nDefaultRuntimeDir " + dir + "\n"
			for _, module := range []string{"mpm_event", "authz_core", "socache_shmcb", "ssl", "proxy", "proxy_http", "headers", "unique_id"} {
				out += "LoadModule " + module + "_module /usr/lib/apache2/modules/mod_" + module + ".so\n"
			}
			port := regexp.MustCompile(`<VirtualHost \*:(\d+)>`).FindStringSubmatch(example)[1]
			return out + "Listen 127.0.0.1:" + port + "\n" + example
		},
		run: func(file, _ string) []string { return []string{"apache2", "-f", file, "-D", "FOREGROUND"} },
	},
	{
		name: "haproxy", inEvery: true, below: []string{"default_backend shardboard", "use_backend shardboard if { path_beg /shardboard/ }"},
		whole: func(example, _ string) string { return example },
		run:   func(file, _ string) []string { return []string{"haproxy", "-db", "-f", file} },
	},
	{
		name: "caddy", below: []string{"reverse_proxy 127.0.0.1:8090", "handle /shardboard/* {\n reverse_proxy 127.0.0.1:8090\n }"},
		whole: func(example, _ string) string { return "{\n admin off\n auto_https disable_redirects\n}\n" + example },
		run: func(file, _ string) []string {
			return []string{"caddy", "run", "--adapter", "caddyfile", "--config", file}
		},
	},
}

// example is the block of docs/install.md for a program.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/install.md")
	must(t, err)
	found := regexp.MustCompile("(?ms)<!-- run: " + name + " -->\n```\\w*\n(.*?)^```$").FindSubmatch(text)
	if found == nil {
		t.Fatalf("docs/install.md has no example for %s", name)
	}
	return string(found[1])
}

// flags are those that docs/install.md gives for every example.
func flags(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/install.md")
	must(t, err)
	found := regexp.MustCompile("(?m)^shardboard serve --uri-file uri (--listen 127.*(?:\\\\\n.*)?)$").FindSubmatch(text)
	if found == nil {
		t.Fatal("docs/install.md has no flags for the examples")
	}
	return strings.Fields(strings.ReplaceAll(string(found[1]), "\\\n", " "))
}

func TestTheExamplesOfTheInstallationWork(t *testing.T) {
	bin, people := process.Shardboard(t), newIssuer(t)
	uri := process.Start(t, bin, "simcluster", "--listen", "127.0.0.1:0", "--empty", "--still").Line(t, `^(mongodb://\S+)`)
	for _, p := range programs {
		for _, path := range []string{"", "/shardboard"} {
			t.Run(p.name+path, func(t *testing.T) {
				if _, err := exec.LookPath(p.name); err != nil {
					if p.inEvery && os.Getenv("SHARDBOARD_REQUIRE_ALL") == "1" {
						t.Fatalf("%s is not installed: sh scripts/setup-proxies", p.name)
					}
					t.Skipf("%s is not installed, so its example is not tried", p.name)
				}
				visit(t, serve(t, bin, uri, p, path, people))
			})
		}
	}
}

// front is a server behind a proxy.
type front struct {
	public, link string // its address, and the link of the first admin
	roots        *x509.CertPool
}

// origin is the public address without its path.
func (f front) origin() string {
	u, err := url.Parse(f.public)
	if err != nil {
		return f.public
	}
	return u.Scheme + "://" + u.Host
}

// serve starts a server with the flags of the documentation, and a proxy with its example in front of it.
func serve(t *testing.T, bin, uri string, p program, path string, people *issuer) front {
	t.Helper()
	dir := t.TempDir()
	ours, theirs := process.FreePort(t), process.FreePort(t)
	public := "https://localhost:" + theirs + path
	f := front{public: public, roots: certificate(t, dir)}
	text := example(t, p.name)
	if path != "" {
		if !strings.Contains(text, p.below[0]) {
			t.Fatalf("the example has no %q", p.below[0])
		}
		text = strings.ReplaceAll(text, p.below[0], p.below[1])
	}
	for _, change := range [][2]string{{"127.0.0.1:8090", "127.0.0.1:" + ours}, {"/etc/ssl/", dir + "/"},
		{"shardboard.example {", "https://localhost:" + theirs + " {"}, {"shardboard.example", "localhost"},
		{"listen 443 ", "listen 127.0.0.1:" + theirs + " "}, {"*:443>", "*:" + theirs + ">"}, {"bind :443 ", "bind 127.0.0.1:" + theirs + " "}} {
		text = strings.ReplaceAll(text, change[0], change[1])
	}
	file := filepath.Join(dir, "proxy.conf")
	must(t, os.WriteFile(file, []byte(p.whole(text, dir)), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "uri"), []byte(uri), 0o600))

	given := append([]string{"serve", "--uri-file", filepath.Join(dir, "uri"), "--data-dir", filepath.Join(dir, "data"),
		"--audit-key", filepath.Join(dir, "keys", "audit.key"), "--ops-listen", "127.0.0.1:0", "--auth", "local,oidc",
		"--first-admin-link", "--oidc-issuer", people.URL, "--oidc-client-id", clientID, "--oidc-client-secret-file",
		filepath.Join(dir, "secret"), "--oidc-role-map", "ops=operator"}, flags(t)...)
	must(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("the client's secret"), 0o600))
	people.register(public + "/login/oidc/callback")
	for i := range given {
		switch given[i] {
		case "127.0.0.1:8090":
			given[i] = "127.0.0.1:" + ours
		case "https://shardboard.example":
			given[i] = public
		}
	}
	f.link = process.Start(t, bin, given...).Line(t, `^\s+(https://\S+)`)
	run := p.run(file, dir)
	cmd := exec.Command(run[0], run[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	process.Run(t, cmd)
	return f
}

// certificate writes a certificate of localhost as each of the programs reads it.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	must(t, err)
	text, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
	for name, text := range map[string][]byte{"shardboard.pem": cert, "shardboard.key": key, "shardboard.both.pem": slices.Concat(cert, key)} {
		must(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	return roots
}

// client is where a browser seems to be: another address of loopback than the proxy's.
const client = "127.0.0.2"

// browser is somebody's browser before a front.
type browser struct {
	*testing.T
	front
	http *http.Client
}

func open(t *testing.T, f front) browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
	return browser{t, f, &http.Client{Jar: jar, Timeout: process.Wait, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: f.roots},
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			_, port, _ := net.SplitHostPort(addr)
			return dialer.DialContext(ctx, "tcp4", "127.0.0.1:"+port)
		}}}}
}

func (b browser) send(method, address, body string, header ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(b.Context(), method, address, strings.NewReader(body))
	must(b.T, err)
	r.Header.Set("X-Forwarded-For", "9.9.9.9") // made up by the browser
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.origin())
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return b.http.Do(r)
}

// read is the answer at an address, and its text.
func (b browser) read(method, address, body string) (*http.Response, string) {
	b.Helper()
	res, err := b.send(method, address, body)
	must(b.T, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(b.T, err)
	return res, string(text)
}

// visit does what somebody does who opens the pages for the first time.
func visit(t *testing.T, f front) {
	t.Helper()
	admin := open(t, f)
	send, origin := admin.send, f.origin()
	get := func(path string) (*http.Response, string) { return admin.read("GET", f.public+path, "") }
	process.Eventually(t, "the proxy answers", func(context.Context) error {
		res, err := send("GET", f.public+"/healthz", "")
		if err == nil {
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s", res.Status)
			}
		}
		return err
	})
	if res, _ := get("/zones"); res.StatusCode != http.StatusOK || !strings.HasSuffix(res.Request.URL.Path, "/login") {
		t.Errorf("a page leads to %s: %s", res.Request.URL, res.Status)
	}
	link, err := url.Parse(f.link)
	must(t, err)
	form := url.Values{"key": {link.Query().Get("key")}, "name": {"adam"}, "password": {"correct horse battery"}}
	link.RawQuery = ""
	if !strings.HasPrefix(f.link, f.public+"/") {
		t.Errorf("the link is %s", f.link)
	}
	res, err := send("POST", link.String(), form.Encode())
	must(t, err)
	res.Body.Close()
	if res.StatusCode != http.StatusOK || !strings.HasSuffix(res.Request.URL.Path, "/settings/users") {
		t.Fatalf("the form of the first admin leads to %s: %s", res.Request.URL, res.Status)
	}
	page, text := get("/")
	sheet := regexp.MustCompile(`href="([^"]+\.css)"`).FindStringSubmatch(text)
	if page.StatusCode != http.StatusOK || sheet == nil {
		t.Fatalf("the first page: %s", page.Status)
	}
	if res, err := send("GET", origin+sheet[1], ""); err != nil || res.StatusCode != http.StatusOK ||
		!strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %v %v", sheet[1], res, err)
	}
	socket, err := send("GET", f.public+"/live?t=zones", "", "Origin", origin, "Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	must(t, err)
	defer socket.Body.Close()
	frame := make([]byte, 1)
	if socket.StatusCode != http.StatusSwitchingProtocols {
		t.Errorf("the socket: %s", socket.Status)
	} else if _, err := io.ReadFull(socket.Body, frame); err != nil || !bytes.Equal(frame, []byte{0x81}) {
		t.Errorf("the socket gets %x, %v", frame, err)
	}
	_, body := get("/api/v1/audit")
	var audit struct{ Items []struct{ What, From string } }
	must(t, json.Unmarshal([]byte(body), &audit))
	seen := 0
	for _, entry := range audit.Items {
		if entry.From != "" {
			seen++
			if entry.From != client {
				t.Errorf("%s is recorded from %s, not %s", entry.What, entry.From, client)
			}
		}
	}
	if seen == 0 {
		t.Errorf("no address in the record: %s", body)
	}
	foreign, err := send("POST", f.public+"/logout", "", "Origin", "https://evil.example")
	must(t, err)
	foreign.Body.Close()
	if foreign.StatusCode != http.StatusForbidden {
		t.Errorf("a form of another site: %s", foreign.Status)
	}
	open(t, f).signIn()
}

// signIn signs in at the issuer.
func (b browser) signIn() {
	b.Helper()
	left, _ := b.read("POST", b.public+"/login/oidc", url.Values{"next": {"/zones"}}.Encode())
	_, issuer, ok := strings.Cut(left.Header.Get("Refresh"), "url=")
	if !ok {
		b.Fatalf("the button leads to %s: %s", left.Request.URL, left.Status)
	}
	if back, text := b.read("GET", issuer, ""); back.StatusCode != http.StatusOK || back.Request.URL.String() != b.public+"/zones" {
		b.Errorf("the issuer leads to %s: %s %.300s", back.Request.URL, back.Status, text)
	}
	_, text := b.read("GET", b.public+"/api/v1/me", "")
	var me struct{ Name, Role, Method string }
	must(b.T, json.Unmarshal([]byte(text), &me))
	if me.Name != "anna" || me.Role != "operator" || me.Method != "oidc" {
		b.Errorf("signed in as %+v", me)
	}
}
