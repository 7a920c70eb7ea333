package templates

import (
	"context"
	"maps"
	"net/url"
	"slices"

	"github.com/a-h/templ"

	"shardboard/internal/answer/logbook"
)

// Links makes the links of one page lead to its own time: what the page was asked
// with is kept where it is understood.
type Links struct {
	Page *url.URL   // which relative addresses begin at
	Keep url.Values // as ?at=
	// Takes tells whether there is a page at a path that understands a parameter.
	Takes func(path, name string) bool
}

type linksKey struct{}

// WithLinks is the context of a page that keeps something. Live fragments and most
// pages keep nothing.
func WithLinks(ctx context.Context, l Links) context.Context {
	return context.WithValue(ctx, linksKey{}, l)
}

// To is the address of a link. Every link of a page goes through it, but those that
// are about the time or the watched things themselves.
func To[A ~string](ctx context.Context, link A) templ.SafeURL {
	address := string(link)
	l, ok := ctx.Value(linksKey{}).(Links)
	if !ok || address == "" || address[0] == '#' {
		return Address(ctx, address)
	}
	to, err := url.Parse(address)
	if err != nil || to.Scheme != "" || to.Host != "" {
		return Address(ctx, address)
	}
	q, added := to.Query(), false
	path := l.Page.ResolveReference(to).EscapedPath()
	for name, values := range l.Keep {
		if name == logbook.LastParam && (q.Has("from") || q.Has("to") || path == l.Page.EscapedPath()) {
			continue // the link chooses a time itself, or none
		}
		if !q.Has(name) && l.Takes(path, name) {
			q[name], added = values, true
		}
	}
	if !added {
		return Address(ctx, address)
	}
	to.RawQuery = q.Encode()
	return Address(ctx, to.String())
}

// keptFor is what the filter of a page keeps.
func keptFor(ctx context.Context, path string) (out []Option) {
	l, _ := ctx.Value(linksKey{}).(Links)
	for _, name := range slices.Sorted(maps.Keys(l.Keep)) {
		if !l.Takes(path, name) || name == logbook.LastParam { // forms have a field for it
			continue
		}
		for _, value := range l.Keep[name] {
			out = append(out, Option{Text: name, Value: value})
		}
	}
	return out
}
