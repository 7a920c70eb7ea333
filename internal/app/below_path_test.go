package app

import (
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// A server below a path of its public address, behind a proxy that hands the path on or takes it off.
func TestBelowAPath(t *testing.T) {
	for name, change := range map[string]func(*httputil.ProxyRequest){
		"the path is handed on": func(*httputil.ProxyRequest) {},
		"the path is taken off": func(r *httputil.ProxyRequest) {
			r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, "/shardboard")
		},
	} {
		p := behindProxy(t, change, func(c *Config) { c.PublicURL += "/shardboard/" })
		if at := p.URL(); at != p.proxy.URL+"/shardboard/" {
			t.Error(at)
		}
		if status, body := p.do(t, "GET", "/shardboard/zones", "", ""); status != http.StatusOK || strings.Contains(body, `href="/zones`) ||
			!strings.Contains(body, `href="/shardboard/zones`) || !strings.Contains(body, `data-root="/shardboard"`) {
			t.Errorf("%s: a page gets %d", name, status)
		}
		expect.That(t, p.opensSocketAt("/shardboard", p.proxy.URL) && !p.opensSocketAt("/shardboard", "https://evil.example"),
			"%s: sockets open wrongly", name)
		c := p.cookie
		expect.That(t, c.Name == "__Secure-shardboard" && c.Path == "/shardboard" && c.Secure && c.HttpOnly, "%s: the cookie is %v", name, c)
		status, _ := p.do(t, "POST", "/shardboard/logout", "https://evil.example", "")
		expect.Equal(t, status, http.StatusForbidden, "%s: a form of another site gets", name)
		status, body := p.do(t, "GET", "/shardboard/nothing", "", "")
		expect.That(t, status == http.StatusNotFound && strings.Contains(body, "nothing at /shardboard/nothing"),
			"%s: what is not there gets %d", name, status)
		status, body = p.do(t, "GET", "/shardboard/api/openapi.json", "", "")
		expect.That(t, status == http.StatusOK &&
			strings.Contains(body, `"url": "/shardboard"`), "%s: the description gets %d", name, status)
		status, _ = p.do(t, "GET", "/shardboard/static/none.js", "", "")
		expect.Equal(t, status, http.StatusNotFound, "%s: a file that is not there gets", name)
		remote, err := ReadRemote(strings.Replace(p.URL(), p.proxy.URL, "http://"+p.Addr(), 1), "", "")
		must.Do(t, err)
		var me any
		err = remote.Get(t.Context(), api.Prefix+"/me", &me)
		expect.That(t, err != nil && strings.Contains(err.Error(), "requires sign-in"), "%s: the command line gets %v", name, err)
		status, body = p.do(t, "POST", "/shardboard/logout", p.proxy.URL, "")
		expect.That(t, status == http.StatusSeeOther, "%s: a form gets %d: %.200s", name, status, body)
	}
}

// Single sign-on begins and ends below the path.
func TestOIDCBelowAPath(t *testing.T) {
	i := newIssuerServer(t, "oncall")
	i.Start()
	a := stillDemo().startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), PublicURL: "http://localhost/shardboard",
		Auth: Auth{Mode: "oidc", OIDC: OIDC{Issuer: i.URL, ClientID: "board", Roles: map[string]string{"oncall": "operator"}}}})
	client := newCookieClient(t)
	// The issuer leads back to the public address, which a proxy would serve.
	client.Transport = readdressed{"localhost", a.Addr()}
	base := "http://localhost/shardboard/"
	status, path, body := clickOIDC(t, client, base, "/shardboard/zones")
	must.That(t, status == http.StatusOK && path == "/shardboard/zones", "%d at %s: %.300s", status, path, body)
	_, path, _ = visit(t, client, base+"login")
	expect.Equal(t, path, "/shardboard/", "signed in already, sign-in leads to")
}

// readdressed sends requests for a host to an address.
type readdressed struct{ host, to string }

func (x readdressed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == x.host {
		r = r.Clone(r.Context())
		r.Host, r.URL.Host = x.host, x.to
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestPublicURLsThatCannotBe(t *testing.T) {
	for public, why := range map[string]string{
		"https://x/shards":           "begins with /shards",
		"https://x/c/board":          "begins with /c",
		"https://x/api":              "begins with /api",
		"https://x//board":           "single slashes",
		"https://x/a/../b":           "single slashes",
		"https://x/b%20c":            "single slashes",
		"https://x/börse":            "single slashes",
		"https://x/board?a=b":        "is not like",
		"https://x/board#a":          "is not like",
		"https://user@x/board":       "is not like",
		"ftp://x/board":              "is not like",
		"board":                      "is not like",
		"https://x/board":            "",
		"https://x/tools/board.1_~/": "",
		"https://x:8443":             "",
	} {
		err := Config{PublicURL: public}.checkRoot()
		expect.That(t, (why != "" || err == nil) && (why == "" || err != nil && strings.Contains(err.Error(), why)), "%s: %v", public, err)
	}
}
