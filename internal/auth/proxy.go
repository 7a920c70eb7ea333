package auth

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	proxySignInInterval = 8 * time.Hour // after this a proxy user's sign-in is recorded again
	maxRecentSignIns    = 2_000
)

// byProxy trusts the user header only on connections from the proxy's addresses. It uses the
// address of the connection, which no header can change.
func (s *Service) byProxy(ctx context.Context, r *http.Request, from string) (Principal, error) {
	if !s.o.Mode.Has(ModeProxy) {
		return Principal{}, ErrNobody
	}
	values := r.Header.Values(s.o.Proxy.Header)
	if len(values) == 0 {
		return Principal{}, ErrNobody
	}
	if remote := remoteAddr(r); !contains(s.o.Proxy.CIDRs, remote) {
		s.refused(
			ctx,
			Principal{Method: ByProxy, From: addrText(remote)},
			auditSpoofed,
			"",
			"the header came from an address that is not the proxy's",
		)
		return Principal{}, ErrNobody
	}
	name := values[0]
	role := s.o.Proxy.Role
	if s.o.Proxy.RoleHeader != "" {
		role = Role(strings.Join(r.Header.Values(s.o.Proxy.RoleHeader), ","))
	}
	// With two headers, one could be the proxy's and one the browser's.
	if len(values) != 1 || !plainName(name) || !role.Known() {
		s.refused(ctx, Principal{Method: ByProxy, From: from}, auditRefused, "", "the proxy gave no name and role that can be used")
		return Principal{}, ErrNobody
	}
	p := Principal{ID: "proxy:" + name, Name: name, Role: role, Method: ByProxy, From: from}
	if s.recentProxyUsers.first("in "+string(role)+" "+name, s.o.Now()) && s.o.Store.Owner() {
		if _, err := s.o.Store.Append(ctx, s.entry(p, auditSignIn, p.ID, "ok", "role", string(role))); err != nil {
			return Principal{}, err
		}
		s.noteAdmin(ctx, p)
	}
	return p, nil
}

// plainName is PlainName.
func plainName(name string) bool {
	return name != "" && len(name) <= 200 && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}

// addrText is "" for an unknown address.
func addrText(addr netip.Addr) string {
	if !addr.IsValid() {
		return ""
	}
	return addr.String()
}

func remoteAddr(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	return addr.IsValid() && slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// recentSignIns remembers which proxy users were recorded, so that a header that comes with every
// request makes one audit entry. Only users whom the proxy vouches for are in it, so others cannot
// fill it.
type recentSignIns struct {
	mu   sync.Mutex
	last *simplelru.LRU[string, time.Time]
}

func newRecentSignIns() *recentSignIns {
	last, _ := simplelru.NewLRU[string, time.Time](maxRecentSignIns, nil) // fails for no room only
	return &recentSignIns{last: last}
}

// first reports whether a user was not seen for proxySignInInterval. When the map is full, the user seen
// longest ago is dropped and recorded again next time: a duplicate entry is better than a missing
// one.
func (s *recentSignIns) first(what string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.last.Peek(what)
	if age := now.Sub(at); ok && age >= 0 && age < proxySignInInterval {
		return false
	}
	s.last.Add(what, now)
	return true
}
