package auth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"shardboard/internal/fault"
)

// The widest networks that a proxy may be in. Wider ones cover parts of the internet from which
// anybody could claim to be any user.
const (
	minPrefix4 = 8
	minPrefix6 = 16
)

// ParseProxy parses an address or network that a proxy connects from.
func ParseProxy(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		addr, e := netip.ParseAddr(text)
		if e != nil || addr.Zone() != "" {
			return p, fault.Wrap(fault.Invalid, err, "%q is not an address or a network like 10.0.0.0/8.", text)
		}
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 { // connections have the IPv4 address
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	p = p.Masked()
	if tooWide(p) {
		return p, fault.New(
			fault.Invalid,
			"%q covers too many addresses: any host there could sign in as any user. Give the addresses of the proxy only.",
			text,
		)
	}
	return p, nil
}

// tooWide reports whether a network is larger than a proxy's can be. Private IPv6 blocks may be
// given whole.
func tooWide(p netip.Prefix) bool {
	if p.Addr().Is4() {
		return p.Bits() < minPrefix4
	}
	for _, own := range []string{"fc00::/7", "fe80::/10"} {
		if block := netip.MustParsePrefix(own); block.Bits() <= p.Bits() && block.Contains(p.Addr()) {
			return false
		}
	}
	return p.Bits() < minPrefix6
}

// checkHeaders rejects invalid header names and headers that browsers or other software set
// themselves.
func (p ProxyOptions) checkHeaders() error {
	for _, name := range []string{p.Header, p.RoleHeader} {
		switch {
		case name == "":
		case !validHeaderName(name):
			return fault.New(fault.Invalid, "%q is not a valid header name.", name)
		case reservedHeader(name):
			return fault.New(
				fault.Invalid,
				"The header %s has another meaning and is set by browsers or other proxies. Have the proxy set one of its own, like X-Forwarded-User.",
				http.CanonicalHeaderKey(name),
			)
		}
	}
	if strings.EqualFold(p.Header, p.RoleHeader) {
		return fault.New(
			fault.Invalid,
			"The name and the role cannot both be in the header %s: a user named admin would become an admin.",
			http.CanonicalHeaderKey(p.Header),
		)
	}
	return nil
}

// validHeaderName reports whether HTTP allows a header of this name.
func validHeaderName(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}

// reservedHeader reports whether a header has a meaning of its own.
func reservedHeader(name string) bool {
	name = strings.ToLower(name)
	for _, family := range []string{"accept", "access-control-", "content-", "if-", "sec-", "x-forwarded-for", "x-forwarded-host",
		"x-forwarded-proto", "x-forwarded-port"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return slices.Contains(
		[]string{"authorization", "cache-control", "connection", "cookie", "date", "dnt", "expect", "forwarded", "from", "host", "keep-alive",
			"origin", "pragma", "priority", "proxy-authorization", "proxy-connection", "range", "referer", "te", "trailer",
			"transfer-encoding", "upgrade",
			"upgrade-insecure-requests", "user-agent", "via", "x-real-ip", "x-requested-with"},
		name,
	)
}
