package storybook

import (
	"strings"

	"shardboard/web/templates"
)

// tourComponents are the steps of the tour on the pages that they speak about, and one on another page:
// each by itself, as a page shows one step at most.
func tourComponents() []component {
	var out []component
	at := func(name string, n int, page string) {
		t := templates.Tour{Offered: true, On: true, Step: n, From: "/"}
		out = append(out, component{"component-tour-" + name, []variant{{templates.TourSteps()[n].Title, templates.TourPanel(t, page)}}})
	}
	for i, x := range templates.TourSteps() {
		at(strings.ToLower(x.Title), i, x.Pages[0])
	}
	at("elsewhere", 2, "zones")
	return out
}
