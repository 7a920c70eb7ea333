package web

import (
	"net/http"
	"strings"

	"shardboard/internal/fault"
)

// originChecked refuses sockets that another site's page asks for, before the
// request is looked at in any other way: the protection that forms have does
// not cover an upgrade, and a socket is not bound by the same-origin rule.
// It is as exact with whatever else changes something and comes without
// Sec-Fetch-Site, where that protection compares hosts alone. Where the header
// is, it decides: our pages send no referrer, and browsers then make the Origin
// of their forms null.
func (s *Server) originChecked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket := r.URL.Path == "/live" || strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
		if socket && !s.originAllowed(r) {
			s.fail(w, r, fault.New(fault.Forbidden, "This socket was asked for by another site and was refused."))
			return
		}
		if !safe(r.Method) && r.Header.Get("Sec-Fetch-Site") == "" && !s.originAllowed(r) {
			s.refuseForeign(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// safe tells that a method is meant to change nothing.
func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// originAllowed is exact: scheme and host equal to the request's own. No
// Origin at all is not a browser, which always sends one. A configured host
// may be behind a proxy that ends TLS, so it may be either scheme.
func (s *Server) originAllowed(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	if values[0] == scheme+"://"+r.Host {
		return true
	}
	name, ok := hostName(r.Host)
	return ok && !loopback(name) && s.hostConfigured(r.Host, name) && values[0] == "https://"+r.Host
}
