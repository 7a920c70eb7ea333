package app

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

func TestInvalidHostNamesAreRefused(t *testing.T) {
	uri, err := cluster.ParseURI("mongodb://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"", "*", "*.example", "http://foo/", "foo/", "foo:", "foo:0", "foo:080", "foo:99999", "a b",
		"u@foo", "foo?x", "foo#x", ".foo", "foo.", "a..b", "b\u00fccher.example", "foo,bar", "fe80::1%eth0", "[::1", "::1:http"} {
		c := Config{
			URI:    uri,
			Listen: "127.0.0.1:0",
			Hosts:  []string{"fine.example", host},
			Auth:   Auth{Mode: "local"},
			Log:    slog.New(slog.DiscardHandler),
		}
		if a, err := New(t.Context(), c); a != nil || fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "--host") {
			t.Errorf("%q: %v", host, err)
		}
	}
	for _, host := range []string{"board.example", "board.example:8443", "board", "my_board.local", "xn--bcher-kva.example",
		"10.0.0.7", "10.0.0.7:80", "::1", "[::1]", "[2001:db8::1]:443", "LOCALHOST"} {
		if err := (Config{Hosts: []string{host}}).checkHosts(); err != nil {
			t.Errorf("%q: %v", host, err)
		}
	}
}

// A proxy on this machine forwards everybody's requests from loopback. Metrics are then
// served only on the separate listener.
func TestMetricsAreNotServedThroughAProxyOrPublicName(t *testing.T) {
	d := startDemo(t, quietCluster(), topology.Options{})
	if code := statusOfMetrics(t, d.app.Addr(), ""); code != http.StatusOK || d.app.OpsAddr() != d.app.Addr() {
		t.Errorf("on loopback only: status %d, separate listener %q", code, d.app.OpsAddr())
	}
	for name, tc := range map[string]struct {
		c    Config
		host string
	}{
		"proxy with TLS":               {Config{TLSByProxy: true, PublicURL: "https://board.example"}, "board.example"},
		"proxy that rewrites the host": {Config{TLSByProxy: true, PublicURL: "https://localhost:8443"}, ""},
		"proxy that says who it is":    {Config{Auth: Auth{ProxyCIDRs: []string{"127.0.0.1"}}}, ""},
		"another host":                 {Config{Hosts: []string{"board.example"}}, "board.example"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.c.Listen, tc.c.OpsListen, tc.c.Auth.Mode = "127.0.0.1:0", "127.0.0.1:0", "local"
			a := d.startBeside(t, tc.c)
			if code := statusOfMetrics(t, a.Addr(), tc.host); code == http.StatusOK {
				t.Error("metrics are open to the network")
			}
			if code := statusOfMetrics(t, a.OpsAddr(), ""); code != http.StatusOK || a.OpsAddr() == a.Addr() {
				t.Errorf("metrics on the separate listener %s: status %d", a.OpsAddr(), code)
			}
		})
	}
	near := d.startBeside(
		t,
		Config{Listen: "127.0.0.1:0", PublicURL: "http://localhost:8090", Hosts: []string{"localhost:9999"}, Auth: Auth{Mode: "local"}},
	)
	if code := statusOfMetrics(t, near.Addr(), "localhost:9999"); code != http.StatusOK || near.OpsAddr() != near.Addr() {
		t.Errorf("with names of this machine: status %d, separate listener %q", code, near.OpsAddr())
	}
}

// statusOfMetrics requests the metrics with a host name; "" is the address itself.
func statusOfMetrics(t *testing.T, addr, host string) int {
	t.Helper()
	r, err := http.NewRequest("GET", "http://"+addr+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}
