package templates

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"shardboard/internal/format"
)

// live are the attributes of a live region. A filtered or paged region names
// its own address instead of taking the shared fragment.
func Live(topic, url string) templ.Attributes {
	a := templ.Attributes{"data-live": topic}
	if url != "" {
		a["data-live-url"] = url
	}
	return a
}

func HostTitle(set string, list []string) string {
	if set == "" {
		return strings.Join(list, ", ")
	}
	return set + ": " + strings.Join(list, ", ")
}

// list joins names for people.
func List(names []string) string {
	if len(names) == 0 {
		return format.Unknown
	}
	return strings.Join(names, ", ")
}

// fragmentKey marks a context in which a live fragment is drawn.
type fragmentKey struct{}

// AsFragment marks ctx for drawing a live fragment. A fragment is drawn once
// for everybody and compared with the one before, so nothing in it may change
// merely because time passes: times are then written as clock times, which the
// page's script turns into "5 s ago" in every browser.
func AsFragment(ctx context.Context) context.Context {
	return context.WithValue(ctx, fragmentKey{}, true)
}

// moment is the text of a time: relative words on a page, a clock time in a
// fragment.
func moment(ctx context.Context, m Moment) string {
	if ctx.Value(fragmentKey{}) != nil {
		return format.Clock(m.At)
	}
	return m.Text
}
