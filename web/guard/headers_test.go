package guard_test

import (
	"testing"

	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestStrictTransportIsSaidOverTLSOnly(t *testing.T) {
	for _, tls := range []bool{false, true} {
		s := webtest.New(t, func(d *site.Deps) { d.TLS = tls })
		for _, address := range []string{"/", "/login", "/nothing", "/healthz"} {
			if got := s.Do("GET", address).Header().Get("Strict-Transport-Security"); (got == "max-age=31536000") != tls {
				t.Errorf("TLS %v: %s says %q", tls, address, got)
			}
		}
	}
}
