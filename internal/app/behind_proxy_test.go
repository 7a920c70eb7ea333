package app

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// proxied is a server behind a proxy, which does TLS, and a browser that is signed in.
type proxied struct {
	*App
	proxy  *httptest.Server
	log    *capture
	client *http.Client
	cookie *http.Cookie
}

// behindProxy starts a server behind a proxy. change is what the proxy does to a request, config what the server is
// told.
func behindProxy(t *testing.T, change func(*httputil.ProxyRequest), config func(*Config)) *proxied {
	t.Helper()
	p := &proxied{log: &capture{}}
	var to *url.URL
	p.proxy = httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		change(r)
	}})
	t.Cleanup(p.proxy.Close)
	c := Config{Listen: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(p.log, nil)), OpsListen: "127.0.0.1:0",
		PublicURL: p.proxy.URL, TLSByProxy: true, Auth: Auth{Mode: "local", Cost: auth.Cost{Memory: 64, Time: 1}}}
	config(&c)
	p.App = stillDemo().startBeside(t, c)
	var err error
	to = must.Get(url.Parse("http://" + p.Addr()))
	accounts := p.current().auth
	who := auth.NewUser{Name: "adam", Password: "correct horse battery", Role: auth.Admin}
	must.Do(t, must.Err(accounts.CreateUser(t.Context(), auth.Console(), who)))
	p.cookie, _, err = accounts.SignIn(t.Context(), auth.Credentials{Name: who.Name, Password: who.Password})
	must.Do(t, err)
	ready := func() bool {
		res, err := http.Get("http://" + p.OpsAddr() + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	}
	must.That(t, eventually(settledWithin, ready), "not ready after  %v", settledWithin)
	p.client = p.proxy.Client()
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return p
}

// do sends what a browser sends from a page of an origin; "" is none.
func (p *proxied) do(t *testing.T, method, path, origin, body string) (int, string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, p.proxy.URL+path, strings.NewReader(body)))
	if r.AddCookie(p.cookie); origin != "" {
		r.Header.Set("Origin", origin)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := p.client.Do(r)
	must.Do(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must.Do(t, err)
	return res.StatusCode, string(text)
}

// opensSocket reports whether a page of an origin gets its live updates.
func (p *proxied) opensSocket(origin string) bool { return p.opensSocketAt("", origin) }

func (p *proxied) opensSocketAt(root, origin string) bool {
	d := websocket.Dialer{TLSClientConfig: p.client.Transport.(*http.Transport).TLSClientConfig}
	c, _, err := d.Dial(strings.Replace(p.proxy.URL, "https", "wss", 1)+root+"/live?t=overview",
		http.Header{"Origin": {origin}, "Cookie": {p.cookie.String()}})
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Proxies that change the Host, or leave its port out, are of no concern while browsers use the public URL.
func TestBehindProxiesThatChangeTheHost(t *testing.T) {
	for name, change := range map[string]func(*httputil.ProxyRequest){
		"it passes the host on":  func(*httputil.ProxyRequest) {},
		"it names the server":    func(r *httputil.ProxyRequest) { r.Out.Host = "" },
		"it leaves the port out": func(r *httputil.ProxyRequest) { r.Out.Host = "127.0.0.1" },
		"it does so, by Sec-Fetch": func(r *httputil.ProxyRequest) {
			r.Out.Host = "localhost"
			r.Out.Header.Set("Sec-Fetch-Site", "same-origin")
		},
		"it has a name of its own":  func(r *httputil.ProxyRequest) { r.Out.Host = "board" },
		"it adds a port to its own": func(r *httputil.ProxyRequest) { r.Out.Host = "board:8090" },
	} {
		p := behindProxy(t, change, func(c *Config) { c.Hosts = []string{"board"} })
		status, _ := p.do(t, "GET", "/", "", "")
		expect.Equal(t, status, http.StatusOK, "%s: the page gets", name)
		if !p.opensSocket(p.proxy.URL) || p.opensSocket("https://evil.example") {
			t.Errorf("%s: sockets are opened by %v, and by another site %v", name, p.opensSocket(p.proxy.URL), p.opensSocket("https://evil.example"))
		}
		status, _ = p.do(t, "POST", "/logout", "https://evil.example", "")
		expect.Equal(t, status, http.StatusForbidden, "%s: a form of another site gets", name)
		status, body := p.do(t, "POST", "/logout", p.proxy.URL, "")
		expect.That(t, status == http.StatusSeeOther, "%s: a form gets %d: %.200s", name, status, body)
	}
}

// What is refused because of a proxy is logged with what was received, what was expected and what to set.
func TestRefusalsBehindAProxySayWhatToSet(t *testing.T) {
	foreign := behindProxy(t, func(r *httputil.ProxyRequest) { r.Out.Host = "upstream:8090" }, func(*Config) {})
	status, _ := foreign.do(t, "GET", "/", "", "")
	expect.Equal(t, status, http.StatusMisdirectedRequest, "a foreign host gets")
	expect.ContainsAll(t, foreign.log.String(), []string{"host=upstream:8090", "expected=\"localhost, 127.0.0.1\"",
		"or add --host upstream"}, "the log")
	other := behindProxy(t, func(r *httputil.ProxyRequest) { r.Out.Host = "board" }, func(c *Config) {
		c.PublicURL, c.Hosts = "https://board", nil
	})
	status, _ = other.do(t, "POST", "/logout", "https://board:8443", "")
	expect.Equal(t, status, http.StatusForbidden, "an origin with another port gets")
	for _, want := range []string{"origin=https://board:8443", "host=board ", "expected=https://board ",
		"--public-url https://board:8443"} {
		expect.That(t, strings.Contains(other.log.String(), want), "the log does not say %s:\n%s", want, other.log)
	}
	for range 20 {
		foreign.do(t, "GET", "/", "", "")
	}
	n := strings.Count(foreign.log.String(), "foreign host name")
	expect.That(t, n <= 3, "%d lines", n)
}

// Balancers check health by address, some in HTTP/1.0 without a Host. They learn one word.
func TestHealthIsAnsweredUnderEveryHost(t *testing.T) {
	p := behindProxy(t, func(*httputil.ProxyRequest) {}, func(*Config) {})
	for _, path := range []string{"/healthz", "/readyz"} {
		for _, lines := range []string{"HTTP/1.0\r\n", "HTTP/1.1\r\nHost: 10.1.2.3:8090\r\nConnection: close\r\n",
			"HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n"} {
			c, err := net.Dial("tcp", p.Addr())
			must.Do(t, err)
			fmt.Fprintf(c, "GET %s %s\r\n", path, lines)
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			must.Do(t, err)
			body, err := io.ReadAll(res.Body)
			c.Close()
			expect.That(t, res.StatusCode == http.StatusOK && string(body) == "ok\n" && err == nil && res.Header.Get("ETag") == "",
				"%s %q: %s, %q, %v", path, lines, res.Status, body, err)
		}
	}
	status, _ := p.do(t, "GET", "/readyz", "", "")
	expect.Equal(t, status, http.StatusOK, "under its own name")
}
