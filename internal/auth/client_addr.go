package auth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"shardboard/internal/sanitize"
)

// ClientAddr returns the client's address without port. What known proxies send is read from its end while the hops
// are known proxies; the first other address is the client.
func (s *Service) ClientAddr(r *http.Request) string {
	addr := remoteAddr(r)
	if !contains(s.o.Forwarded, addr) {
		return addrText(addr)
	}
	for _, hop := range slices.Backward(hops(r.Header)) {
		next, ok := parseHop(hop)
		if !ok {
			s.unreadHops.Do(func() {
				s.o.Log.Warn("a known proxy sends an address of a client that cannot be read, so all its clients count as one",
					"proxy", addrText(addr), "sent", sanitize.Line(sanitize.Truncate(hop, 100)),
					"set", "X-Forwarded-For or Forwarded with addresses, with or without ports (docs/install.md)")
			})
			break
		}
		if addr = next; !contains(s.o.Forwarded, addr) {
			break
		}
	}
	return addrText(addr)
}

// hops are the addresses that proxies have added, the last proxy's last. X-Forwarded-For has precedence over Forwarded
// (RFC 7239): a proxy that sends the one may pass on what a browser made up in the other.
func hops(h http.Header) (out []string) {
	if all := strings.Join(h.Values("X-Forwarded-For"), ","); strings.TrimSpace(all) != "" {
		return strings.Split(all, ",")
	}
	for element := range strings.SplitSeq(strings.Join(h.Values("Forwarded"), ","), ",") {
		for pair := range strings.SplitSeq(element, ";") {
			if name, value, ok := strings.Cut(pair, "="); ok && strings.EqualFold(strings.TrimSpace(name), "for") {
				out = append(out, value)
			}
		}
	}
	return out
}

// parseHop reads an address as proxies write it: with or without a port, IPv6 with or without brackets, in quotes.
func parseHop(hop string) (netip.Addr, bool) {
	hop = strings.Trim(strings.TrimSpace(hop), `"`)
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(hop, "["), "]"))
	if err != nil {
		with, e := netip.ParseAddrPort(hop)
		addr, err = with.Addr(), e
	}
	return addr.Unmap().WithZone(""), err == nil
}
