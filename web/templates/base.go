package templates

import (
	"context"
	"strings"

	"github.com/a-h/templ"
)

// Base is where the addresses of a site begin, on a server of several clusters: a cluster's pages are
// below /c/{name}, those of the server itself are at the root. The zero Base is the root for all.
type Base struct {
	Prefix string // "/c/name"; "" at the root
	// Server has the first parts of addresses that are the server's, as FirstPart gives them.
	Server map[string]bool
}

// FirstPart is the part of an address that tells whose it is: "settings" of /settings/users, and
// "tokens" of /api/v1/tokens.
func FirstPart(address string) string {
	address = strings.TrimPrefix(strings.TrimPrefix(address, "/api/v1"), "/")
	if end := strings.IndexAny(address, "/?#."); end >= 0 {
		address = address[:end]
	}
	return address
}

// Of is the whole address of a local one.
func (b Base) Of(address string) string {
	if b.Prefix == "" || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") || b.Server[FirstPart(address)] {
		return address
	}
	return b.Prefix + address
}

type baseKey struct{}

// WithBase is the context of everything that is drawn for a site.
func WithBase(ctx context.Context, b Base) context.Context {
	return context.WithValue(ctx, baseKey{}, b)
}

// BaseOf is the base of a context.
func BaseOf(ctx context.Context) Base {
	b, _ := ctx.Value(baseKey{}).(Base)
	return b
}

// Address is where a form leads, or a script asks. Links go through To, which also keeps the time that is looked at.
func Address(ctx context.Context, address string) templ.SafeURL {
	return templ.URL(BaseOf(ctx).Of(address))
}

// baseAttr tells scripts where the addresses of a page begin.
func baseAttr(ctx context.Context) templ.Attributes {
	if p := BaseOf(ctx).Prefix; p != "" {
		return templ.Attributes{"data-base": p}
	}
	return nil
}
