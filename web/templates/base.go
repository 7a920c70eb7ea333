package templates

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"shardboard/static"
)

// Base is where the addresses of a site begin. On a server of several clusters a cluster's pages are below /c/{name},
// those of the server itself are not. The zero Base is "/" for all.
//
// Addresses inside of the program are without Root. It is added where they leave: Address and To for pages, the site's
// answers for JSON, and site.Below for headers.
type Base struct {
	// Root is what the public URL has before every address of the server, such as "/shardboard"; "" for nothing.
	Root   string
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

// Of is the address on the server of a local one.
func (b Base) Of(address string) string {
	if b.Prefix == "" || !local(address) || b.Server[FirstPart(address)] {
		return address
	}
	return b.Prefix + address
}

// Whole is the address of a local one as browsers have it.
func (b Base) Whole(address string) string {
	if !local(address) {
		return address
	}
	return b.Root + b.Of(address)
}

// local tells whether an address is one of this server from its beginning, and not of another or relative to a page.
func local(address string) bool {
	return strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//")
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
func Address[A ~string](ctx context.Context, address A) templ.SafeURL {
	return templ.URL(BaseOf(ctx).Whole(string(address)))
}

// Asset is the address of a file of package static.
func Asset(ctx context.Context, name string) string { return BaseOf(ctx).Root + static.URL(name) }

// baseAttr tells scripts where the addresses of a page and those of the server begin.
func baseAttr(ctx context.Context) templ.Attributes {
	out, b := templ.Attributes{}, BaseOf(ctx)
	if b.Root+b.Prefix != "" {
		out["data-base"] = b.Root + b.Prefix
	}
	if b.Root != "" {
		out["data-root"] = b.Root
	}
	return out
}

type wordsKey struct{}

// WithWords is the context of what is drawn in the words of a profile.
func WithWords(ctx context.Context, words func(sentence string) string) context.Context {
	return context.WithValue(ctx, wordsKey{}, words)
}

// Words is a sentence of ours in the words of the context's profile. It is for what holds no name of anybody else.
func Words(ctx context.Context, sentence string) string {
	if words, ok := ctx.Value(wordsKey{}).(func(string) string); ok {
		return words(sentence)
	}
	return sentence
}
