package auth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"shardboard/internal/fault"
)

// The widest networks that a proxy is believed to be in. Wider ones are no
// proxy's but a part of the internet, from which anybody could say who they are.
const (
	widest4 = 8
	widest6 = 16
)

// ParseProxy reads an address or network that a proxy connects from.
func ParseProxy(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		addr, e := netip.ParseAddr(text)
		if e != nil || addr.Zone() != "" {
			return p, fault.Wrap(fault.Invalid, err, "%q is not an address or a network like 10.0.0.0/8.", text)
		}
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 { // connections are known by the IPv4 address
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	p = p.Masked()
	if wide(p) {
		return p, fault.New(fault.Invalid, "%q is nearly everybody: then anybody could say who they are. Give the addresses of the proxy.", text)
	}
	return p, nil
}

// wide tells whether a network is more than a proxy can be in. The blocks that
// are nobody's on the internet may be named whole.
func wide(p netip.Prefix) bool {
	if p.Addr().Is4() {
		return p.Bits() < widest4
	}
	for _, own := range []string{"fc00::/7", "fe80::/10"} {
		if block := netip.MustParsePrefix(own); block.Bits() <= p.Bits() && block.Contains(p.Addr()) {
			return false
		}
	}
	return p.Bits() < widest6
}

// checkHeaders refuses names under which something else arrives than the
// proxy's word: what browsers send by themselves, and what is no name.
func (p ProxyOptions) checkHeaders() error {
	for _, name := range []string{p.Header, p.RoleHeader} {
		switch {
		case name == "":
		case !headerName(name):
			return fault.New(fault.Invalid, "%q is no name of a header.", name)
		case taken(name):
			return fault.New(fault.Invalid, "The header %s holds something else, which people send themselves. Have the proxy set one of its own, like X-Forwarded-User.", http.CanonicalHeaderKey(name))
		}
	}
	if strings.EqualFold(p.Header, p.RoleHeader) {
		return fault.New(fault.Invalid, "The name and the role cannot both be in the header %s: who is called admin would be one.", http.CanonicalHeaderKey(p.Header))
	}
	return nil
}

// headerName tells whether HTTP can carry a header of this name.
func headerName(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}

// taken tells whether a header has a meaning of its own.
func taken(name string) bool {
	name = strings.ToLower(name)
	for _, family := range []string{"accept", "access-control-", "content-", "if-", "sec-", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return slices.Contains([]string{"authorization", "cache-control", "connection", "cookie", "date", "dnt", "expect", "forwarded", "from", "host", "keep-alive",
		"origin", "pragma", "priority", "proxy-authorization", "proxy-connection", "range", "referer", "te", "trailer", "transfer-encoding", "upgrade",
		"upgrade-insecure-requests", "user-agent", "via", "x-real-ip", "x-requested-with"}, name)
}
