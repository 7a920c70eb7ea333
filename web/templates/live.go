package templates

import (
	"strings"

	"github.com/a-h/templ"

	"shardboard/internal/format"
)

// Live are the attributes of a live region. A filtered or paged region names
// its own address instead of taking the shared fragment.
func Live(topic, url string) templ.Attributes {
	a := templ.Attributes{"data-live": topic}
	if url != "" {
		a["data-live-url"] = url
	}
	return a
}

// List joins names for people.
func List(names []string) string {
	if len(names) == 0 {
		return format.Unknown
	}
	return strings.Join(names, ", ")
}
