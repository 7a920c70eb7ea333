package guard_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

var ownHosts = []string{
	"localhost", "localhost:8090", "LOCALHOST:8090", "127.0.0.1", "127.0.0.1:1", "127.8.9.10:65535", "[::1]", "[::1]:8090",
	"board.example", "BOARD.example:443", "other.example:9999",
}

var foreignHosts = []string{
	"", " ", ":", ":8090", "evil.example", "evil.example:8090", "localhost.evil.example", "evil-localhost", "localhost.", "localhost.:8090",
	"foo.localhost", "127.0.0.1.evil.example", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0177.0.0.1",
	"127.0.0.256", "0.0.0.0", "0.0.0.0:8090",
	"[::]", "[::ffff:127.0.0.1]:8090", "[::1%25eth0]", "[::1%eth0]", "[::1", "::1", "::1]:80", "[127.0.0.1]:80", "[::1]8090",
	"[::1]:", "10.0.0.1", "192.168.0.1:8090",
	"localhost:", "localhost:0", "localhost:080", "localhost:99999", "localhost:80:80", "localhost:-1", "localhost:http",
	"localhost@evil.example", "evil.example@localhost",
	"localhost/evil", "localhost\\evil", "localhost#", "localhost?", "localhost,evil.example", "localhost evil.example", "ⓛocalhost",
	"lоcalhost", "128.0.0.1", "126.255.255.255",
	"board.example.evil.example", "evilboard.example", "other.example", "other.example:9998", "*", "null", "%6cocalhost",
}

func TestOnlyLoopbackAndConfiguredHostsAreAnswered(t *testing.T) {
	s := webtest.New(t, webtest.WithHosts)
	for _, host := range ownHosts {
		expect.Equal(t, s.Do("GET", "/healthz", func(r *http.Request) { r.Host = host }).Code, http.StatusOK, "host %q", host)
	}
	must.That(t, len(foreignHosts) >= 30, "too few hosts")
	for _, host := range foreignHosts {
		for _, address := range []string{"/", "/api/v1/cluster", "/live?t=overview", "/healthz", "/metrics", "/nothing"} {
			w := s.Do("GET", address, func(r *http.Request) { r.Host = host })
			if address == "/healthz" { // answers a word under every name
				expect.That(t, w.Code == http.StatusOK && w.Body.String() == "ok\n", "host %q at %s: %d %q", host, address, w.Code, w.Body)
				continue
			}
			expect.Equal(t, w.Code, http.StatusMisdirectedRequest, "host %q at %s", host, address)
			expect.That(t, !strings.Contains(w.Body.String(), "mongos.example") && !strings.Contains(w.Body.String(), "shard-rs"),
				"host %q at %s sees the cluster", host, address)
		}
	}
}

func TestConfiguredHostMayBeBehindTLS(t *testing.T) {
	s := webtest.New(t, webtest.WithHosts)
	for origin, want := range map[string]bool{
		"https://board.example": true, "http://board.example": true, "https://board.example:443": false, "https://other.example": false,
		"ftp://board.example": false,
	} {
		r := httptest.NewRequest("GET", "/live", nil)
		r.Host = "board.example"
		r.Header.Set("Origin", origin)
		expect.Equal(t, s.Guard.OriginAllowed(r), want, "%s", origin)
	}
}

func TestRefusedHostNamesTheFlagsThatAllowIt(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(*site.Deps)
		says, hush []string
	}{
		"loopback": {func(*site.Deps) {}, []string{"localhost", "--public-url", "--host"}, nil},
		"exposed":  {func(d *site.Deps) { d.Access.Exposed = true }, []string{"--public-url", "--host"}, []string{"localhost", "127.0.0.1"}},
		"demo":     {func(d *site.Deps) { d.Demo = true }, []string{"localhost"}, []string{"--"}},
	} {
		s := webtest.New(t, c.change)
		for _, address := range []string{"/", "/api/v1/cluster"} {
			w := s.Do("GET", address, func(r *http.Request) { r.Host = "evil.example" })
			text := strings.ReplaceAll(w.Body.String(), "evil.example", "")
			expect.ContainsAll(t, text, c.says, "%s at %s", name, address)
			expect.LacksAll(t, text, c.hush, "%s at %s", name, address)
		}
	}
}
