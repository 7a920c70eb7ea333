package oidc

import (
	"slices"
	"strings"

	coreos "github.com/coreos/go-oidc/v3/oidc"

	"shardboard/internal/fault"
)

const (
	maxScopes = 50
	maxScope  = 200 // bytes of one scope
)

// checkScopes returns the scopes to request: openid first, each once. For nil it adds those with
// which most issuers send names.
func checkScopes(scopes []string) ([]string, error) {
	if scopes == nil {
		scopes = []string{"profile", "email"}
	}
	out := []string{coreos.ScopeOpenID} // without it there is no ID token
	for _, scope := range scopes {
		if !scopeToken(scope) {
			return nil, fault.New(
				fault.Invalid,
				"--oidc-scopes: %q is not a scope. A scope has up to %d visible ASCII characters, without space, quote and backslash.",
				scope,
				maxScope,
			)
		}
		if !slices.Contains(out, scope) {
			out = append(out, scope)
		}
	}
	if len(out) > maxScopes {
		return nil, fault.New(fault.Invalid, "--oidc-scopes has %d scopes; %d are the most.", len(out), maxScopes)
	}
	return out, nil
}

// scopeToken reports whether s is a scope by RFC 6749 §3.3.
func scopeToken(s string) bool {
	return s != "" && len(s) <= maxScope &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// unlisted returns the requested scopes that the discovery document does not list. An issuer may
// leave some out on purpose (OpenID Connect Discovery §3), so they are requested anyway.
func (i *Issuer) unlisted(p *coreos.Provider) []string {
	var doc struct {
		Supported []string `json:"scopes_supported"`
	}
	if p.Claims(&doc) != nil || len(doc.Supported) == 0 {
		return nil
	}
	return without(i.o.Scopes, doc.Supported)
}

// notGranted returns the requested scopes that the token endpoint's answer lacks. An answer without
// scopes granted all of them (RFC 6749 §5.1).
func (i *Issuer) notGranted(granted string) []string {
	if granted == "" {
		return nil
	}
	return without(i.o.Scopes, strings.Fields(granted))
}

func without(all, these []string) (out []string) {
	for _, s := range all {
		if !slices.Contains(these, s) {
			out = append(out, s)
		}
	}
	return out
}
