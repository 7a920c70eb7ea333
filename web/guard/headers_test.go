package guard_test

import (
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestStrictTransportIsSaidOverTLSOnly(t *testing.T) {
	for _, tls := range []bool{false, true} {
		s := webtest.New(t, func(d *site.Deps) { d.Access.TLS = tls })
		for _, address := range []string{"/", "/login", "/nothing", "/healthz"} {
			got := s.Do("GET", address).Header().Get("Strict-Transport-Security")
			expect.Equal(t, got == "max-age=31536000", tls, "TLS %v: %s says %q", tls, address, got)
		}
	}
}

// Who may show our pages in a frame is said in two headers, which agree.
func TestFramesAreForThoseWhoAreNamed(t *testing.T) {
	for _, c := range []struct {
		named          []string
		policy, option string
	}{
		{nil, "frame-ancestors 'none'", "DENY"},
		{[]string{"'self'", "https://portal.example:8443"}, "frame-ancestors 'self' https://portal.example:8443", ""},
	} {
		s := webtest.New(t, func(d *site.Deps) { d.Access.FrameAncestors = c.named })
		for _, address := range []string{"/", "/login", "/nothing", "/api/v1/shards"} {
			h := s.Do("GET", address).Header()
			expect.That(t, strings.HasSuffix(h.Get("Content-Security-Policy"), "; "+c.policy) && h.Get("X-Frame-Options") == c.option,
				"%v: %s says %q and %q", c.named, address, h.Get("Content-Security-Policy"), h.Get("X-Frame-Options"))
		}
	}
}
