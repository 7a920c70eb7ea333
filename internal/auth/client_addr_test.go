package auth

import (
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
)

// Proxies write addresses in many ways. One that cannot be read would make all their clients one, so it is warned of.
func TestAddressesOfClientsAreReadAsProxiesWriteThem(t *testing.T) {
	for _, c := range []struct {
		headers []string
		want    string
		unread  bool
	}{
		{[]string{"X-Forwarded-For", "203.0.113.7:51234"}, "203.0.113.7", false},
		{[]string{"X-Forwarded-For", "[2001:db8::7]:51234"}, "2001:db8::7", false},
		{[]string{"X-Forwarded-For", "[2001:db8::7]"}, "2001:db8::7", false},
		{[]string{"X-Forwarded-For", "2001:db8::7, 10.1.2.3:80"}, "2001:db8::7", false},
		{[]string{"X-Forwarded-For", "::ffff:203.0.113.7"}, "203.0.113.7", false},
		{[]string{"Forwarded", "for=203.0.113.7;proto=https;by=10.1.2.3"}, "203.0.113.7", false},
		{[]string{"Forwarded", `for=198.51.100.1, For="[2001:db8::7]:4711"`}, "2001:db8::7", false},
		{[]string{"Forwarded", `proto=https;for="203.0.113.7:80", for=10.1.2.3`}, "203.0.113.7", false},
		{[]string{"X-Forwarded-For", "203.0.113.7", "Forwarded", "for=198.51.100.1"}, "203.0.113.7", false}, // which a browser may have sent
		{[]string{"X-Forwarded-For", "203.0.113.7, nobody"}, "10.1.2.3", true},
		{[]string{"Forwarded", "for=_hidden"}, "10.1.2.3", true},
		{[]string{"Forwarded", "for=unknown"}, "10.1.2.3", true},
		{[]string{"X-Forwarded-For", "203.0.113.7:port"}, "10.1.2.3", true},
		{nil, "10.1.2.3", false},
		{[]string{"X-Forwarded-For", ""}, "10.1.2.3", false},
	} {
		h := newFixture(t, withProxy, func(o *Options) { o.Forwarded = o.Proxy.CIDRs })
		for range 3 {
			expect.Equal(t, h.ClientAddr(newRequest("10.1.2.3", nil, c.headers...)), c.want, "%q", c.headers)
		}
		if n := strings.Count(h.log.String(), "cannot be read"); n != map[bool]int{true: 1}[c.unread] {
			t.Errorf("%q: %d warnings: %s", c.headers, n, h.log)
		}
	}
}
