package guard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// originChecked refuses sockets that another site's page asks for, before the
// request is looked at in any other way: the protection that forms have does
// not cover an upgrade, and a socket is not bound by the same-origin rule.
// Whatever changes something is held to the same exact comparison, because that
// protection compares hosts alone and so takes http:// for https://. Only a null
// Origin is left to Sec-Fetch-Site: our pages send no referrer, and browsers
// then make the Origin of their forms null.
func (g *Guard) originChecked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket := r.URL.Path == "/live" || strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
		if socket && !g.OriginAllowed(r) {
			g.warnOrigin(r)
			g.Site.Fail(w, r, fault.New(fault.Forbidden, "This socket was requested by another site and was refused."))
			return
		}
		vouched := r.Header.Get("Sec-Fetch-Site") != "" && r.Header.Get("Origin") == "null"
		if !safe(r.Method) && !vouched && !g.OriginAllowed(r) {
			g.refuseForeign(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// safe tells that a method is meant to change nothing.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// warnOrigin logs a refused Origin with what would let it pass: a proxy may have changed the Host, or left its port
// out.
func (g *Guard) warnOrigin(r *http.Request) {
	origin := sanitize.Line(sanitize.Truncate(strings.Join(r.Header.Values("Origin"), ", "), 200))
	var expected []string
	for _, scheme := range g.schemes(r) {
		expected = append(expected, scheme+"://"+sanitize.Line(sanitize.Truncate(r.Host, 200)))
	}
	if g.Origin != "" && !slices.Contains(expected, g.Origin) {
		expected = append(expected, g.Origin)
	}
	advice := "nothing, if that is another site"
	if u, err := url.Parse(origin); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && origin != g.Origin {
		advice = "--public-url " + origin + " if that is the address that browsers use; nothing, if it is another site"
	}
	g.warnings[1].Do(func() {
		g.Log.Warn("refused a request that another site's page seems to have made", "origin", origin,
			"host", sanitize.Line(sanitize.Truncate(r.Host, 200)), "expected", strings.Join(expected, " or "), "set", advice)
	})
}

// OriginAllowed is exact: scheme and host equal to the request's own, or to the address that browsers are told to use,
// whatever Host a proxy makes of it. No Origin at all is not a browser, which always sends one.
func (g *Guard) OriginAllowed(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	if g.Origin != "" && values[0] == g.Origin {
		return true
	}
	for _, scheme := range g.schemes(r) {
		if values[0] == scheme+"://"+r.Host {
			return true
		}
	}
	return false
}

// schemes are those by which browsers reach the host of a request. Where they
// come over https, the same name over http is another site: anybody on the way
// can answer for it. A name that is configured without TLS may be behind a proxy
// that nobody told us of, so it may be either. Loopback is what the connection is.
func (g *Guard) schemes(r *http.Request) []string {
	name, ok := hostName(r.Host)
	switch {
	case r.TLS != nil:
		return []string{"https"}
	case ok && loopback(name):
		return []string{"http"}
	case g.TLS:
		return []string{"https"}
	case ok && g.hostConfigured(r.Host, name):
		return []string{"http", "https"}
	}
	return []string{"http"}
}
