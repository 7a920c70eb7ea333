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
	sightingLasts = 8 * time.Hour // then a proxy's user is recorded as signed in again
	maxSightings  = 2_000
)

// byProxy believes the header of a connection that comes from the proxy, and of
// no other. The remote address is the connection's: no header says it.
func (s *Service) byProxy(ctx context.Context, r *http.Request, from string) (Principal, error) {
	if !s.o.Mode.Has(ModeProxy) {
		return Principal{}, ErrNobody
	}
	values := r.Header.Values(s.o.Proxy.Header)
	if len(values) == 0 {
		return Principal{}, ErrNobody
	}
	if remote := remoteAddr(r); !contains(s.o.Proxy.CIDRs, remote) {
		s.refused(ctx, Principal{Method: ByProxy, From: addrText(remote)}, auditSpoofed, "", "the header came from an address that is not the proxy's")
		return Principal{}, ErrNobody
	}
	name := values[0]
	role := s.o.Proxy.Role
	if s.o.Proxy.RoleHeader != "" {
		role = Role(strings.Join(r.Header.Values(s.o.Proxy.RoleHeader), ","))
	}
	// Two headers may be one of the proxy and one of the browser.
	if len(values) != 1 || !plainName(name) || !role.Known() {
		s.refused(ctx, Principal{Method: ByProxy, From: from}, auditRefused, "", "the proxy gave no name and role that can be used")
		return Principal{}, ErrNobody
	}
	p := Principal{ID: "proxy:" + name, Name: name, Role: role, Method: ByProxy, From: from}
	if s.seen.first("in "+string(role)+" "+name, s.o.Now()) && s.o.Store.Owner() {
		if _, err := s.o.Store.Append(ctx, s.entry(p, auditLogin, p.ID, "ok", "role", string(role))); err != nil {
			return Principal{}, err
		}
	}
	return p, nil
}

// plainName tells whether a name from outside is text that one can show.
func plainName(name string) bool {
	return name != "" && len(name) <= 200 && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}

// ClientAddr is the address that a request comes from, without port. What a
// known proxy says of it is believed, from the end of the list to the first
// address that is not a known proxy's own.
func (s *Service) ClientAddr(r *http.Request) string {
	addr := remoteAddr(r)
	if !contains(s.o.Forwarded, addr) {
		return addrText(addr)
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		addr = next.Unmap().WithZone("")
		if !contains(s.o.Forwarded, addr) {
			break
		}
	}
	return addrText(addr)
}

// addrText is "" for an address that is not known.
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

// sightings remembers whom a proxy brought and who is recorded already, so that
// a header that comes with every request is one record. Only people whom the
// proxy vouches for are in it: no stranger can fill it.
type sightings struct {
	mu   sync.Mutex
	last *simplelru.LRU[string, time.Time]
}

func newSightings() *sightings {
	last, _ := simplelru.NewLRU[string, time.Time](maxSightings, nil) // fails for no room only
	return &sightings{last: last}
}

// first tells whether this was not seen for a while, or is new. With too many,
// the one seen longest ago is forgotten: then it is recorded once more, which is
// better than a sign-in that is not recorded.
func (s *sightings) first(what string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.last.Peek(what)
	if age := now.Sub(at); ok && age >= 0 && age < sightingLasts {
		return false
	}
	s.last.Add(what, now)
	return true
}
