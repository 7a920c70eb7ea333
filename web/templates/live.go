package templates

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"shardboard/internal/answer/writes"
	"shardboard/internal/format"
)

// Live are the attributes of a live region. A filtered or paged region names
// its own address instead of taking the shared fragment, and so does every region of a page with another time of
// writes than the usual one.
func Live(ctx context.Context, topic, url string) templ.Attributes {
	a := templ.Attributes{"data-live": topic}
	if l, ok := ctx.Value(linksKey{}).(Links); ok && l.Keep.Has(writes.WindowParam) && l.Takes(l.Page.EscapedPath(), writes.WindowParam) {
		url = l.Page.RequestURI()
	}
	if url != "" {
		a["data-live-url"] = string(Address(ctx, url))
	}
	return a
}

// Held are the attributes of a list whose rows stay in place while somebody reads it. Its words say how
// many new rows wait; the second has "{n}" for their number.
func Held(one, many string) templ.Attributes {
	return templ.Attributes{"data-held": one + "|" + many}
}

// List joins names for people.
func List(names []string) string {
	if len(names) == 0 {
		return format.Unknown
	}
	return strings.Join(names, ", ")
}
