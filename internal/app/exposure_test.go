package app

import (
	"cmp"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestInvalidHostNamesAreRefused(t *testing.T) {
	uri := must.Get(cluster.ParseURI("mongodb://127.0.0.1:1"))
	for _, host := range []string{"", "*", "*.example", "http://foo/", "foo/", "foo:", "foo:0", "foo:080", "foo:99999", "a b",
		"u@foo", "foo?x", "foo#x", ".foo", "foo.", "a..b", "b\u00fccher.example", "foo,bar", "fe80::1%eth0", "[::1", "::1:http"} {
		c := Config{URI: uri, Listen: "127.0.0.1:0", Hosts: []string{"fine.example", host}, Auth: Auth{Mode: "local"},
			Log: slog.New(slog.DiscardHandler)}
		if a, err := New(t.Context(), c); a != nil || fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "--host") {
			t.Errorf("%q: unexpected error: %v", host, err)
		}
	}
	for _, host := range []string{"board.example", "board.example:8443", "board", "my_board.local", "xn--bcher-kva.example",
		"10.0.0.7", "10.0.0.7:80", "::1", "[::1]", "[2001:db8::1]:443", "LOCALHOST"} {
		expect.NoError(t, (Config{Hosts: []string{host}}).checkHosts(), "%q: unexpected error", host)
	}
}

// Health and metrics have a separate listener, with nothing else, wherever the pages can be reached by others: also
// behind a proxy on this machine, which forwards everybody's requests from loopback.
func TestMetricsAreNotServedThroughAProxyOrPublicName(t *testing.T) {
	d := stillDemo()
	for name, tc := range map[string]struct {
		c     Config
		host  string
		apart bool // metrics have a listener of their own
	}{
		"loopback only":         {Config{}, "", false},
		"names of this machine": {Config{PublicURL: "http://localhost:8090", Hosts: []string{"localhost:9999"}}, "localhost:9999", false},
		"the network": {
			Config{Listen: "0.0.0.0:0", TLSByProxy: true, PublicURL: "https://board.example"}, "board.example", true,
		},
		"proxy with TLS":               {Config{TLSByProxy: true, PublicURL: "https://board.example"}, "board.example", true},
		"proxy that rewrites the host": {Config{TLSByProxy: true, PublicURL: "https://localhost:8443"}, "", true},
		"proxy that says who it is":    {Config{Auth: Auth{ProxyCIDRs: []string{"127.0.0.1"}}}, "", true},
		"another host":                 {Config{Hosts: []string{"board.example"}}, "board.example", true},
	} {
		tc.c.Listen, tc.c.Auth.Mode = cmp.Or(tc.c.Listen, "127.0.0.1:0"), "local"
		if tc.apart {
			tc.c.OpsListen = "127.0.0.1:0"
		}
		a := d.startBeside(t, tc.c)
		_, port, _ := net.SplitHostPort(a.Addr())
		near := "127.0.0.1:" + port
		if open := statusByName(t, near, tc.host, "/metrics") == http.StatusOK; open == tc.apart || (a.OpsAddr() != a.Addr()) != tc.apart {
			t.Errorf("%s: metrics beside the pages: %v, separate listener %q", name, open, a.OpsAddr())
		}
		if tc.host == "board.example" {
			expect.Equal(t, statusByName(t, near, "evil.example", "/"), http.StatusMisdirectedRequest, "%s: another host gets status", name)
			expect.Equal(t, statusByName(t, near, tc.host, "/"), http.StatusSeeOther, "%s: the public host", name)
		}
		if !tc.apart {
			continue
		}
		for path, want := range map[string]int{"/metrics": 200, "/healthz": 200, "/": 404, "/api/v1/cluster": 404, "/login": 404} {
			expect.Equal(t, statusByName(t, a.OpsAddr(), "", path), want, "%s: %s on the separate listener", name, path)
		}
		expect.That(t, tc.c.PublicURL == "" || a.URL() == tc.c.PublicURL+"/", "%s: the address is %s", name, a.URL())
	}
}

// statusByName requests a path with a host name; "" is the address itself.
func statusByName(t *testing.T, addr, host, path string) int {
	t.Helper()
	r := must.Get(http.NewRequest("GET", "http://"+addr+path, nil))
	r.Host = host
	res, err := http.DefaultTransport.RoundTrip(r)
	must.Do(t, err)
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func TestFrameAncestorsAreOrigins(t *testing.T) {
	for origin, good := range map[string]bool{"self": true, "https://portal.example": true, "https://portal.example:8443": true,
		"http://localhost:3000": true, "http://portal.example": false, "https://portal.example/": false, "https://*.example": false, "*": false,
		"https:": false, "'self'": false, "portal.example": false, "": false, "https://a; script-src *": false, "https://u@a": false,
		"https://a b": false} {
		err := (Config{FrameAncestors: []string{origin}}).checkFrameAncestors()
		expect.Equal(t, err == nil, good, "%q: %v", origin, err)
	}
	if got := (Config{FrameAncestors: []string{"self", "https://a"}}).frameAncestors(); strings.Join(got, " ") != "'self' https://a" {
		t.Error(got)
	}
}
