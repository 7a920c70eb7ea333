package app

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// markup is what pages are made of. What the accessibility checker finds, it finds by elements, their classes and
// attributes, and what they stand in; a page that has nothing new teaches nothing new.
type markup map[string]bool

// markupOf is a page's elements, each with all that it stands in, and the order of its headings.
func markupOf(page *goquery.Document) markup {
	out := markup{}
	var headings []string
	var look func(node *html.Node, in string)
	look = func(node *html.Node, in string) {
		inside := kindOf(node) + " in " + in
		out[inside] = true
		if name := node.Data; len(name) == 2 && name[0] == 'h' && name != "hr" {
			headings = append(headings, name)
		}
		for child := range node.ChildNodes() {
			if child.Type == html.ElementNode {
				look(child, inside)
			}
		}
	}
	look(page.Find("html").Get(0), "the document")
	out[strings.Join(slices.Compact(headings), " ")] = true
	return out
}

// add reports whether some of a page's markup was not there before.
func (seen markup) add(page markup) bool {
	before := len(seen)
	maps.Copy(seen, page)
	return len(seen) > before
}

// kindOf is an element without what differs from thing to thing: its texts, addresses and figures.
func kindOf(node *html.Node) string {
	parts := []string{node.Data}
	for _, a := range node.Attr {
		switch a.Key {
		case "class":
			classes := strings.Fields(a.Val)
			// Colours of shards have numbers.
			classes = slices.DeleteFunc(classes, func(c string) bool { return strings.ContainsAny(c, "0123456789") })
			slices.Sort(classes)
			parts = append(parts, "."+strings.Join(classes, "."))
		case "role", "type", "aria-live", "aria-sort", "aria-current", "aria-hidden", "scope", "lang", "dir", "tabindex":
			parts = append(parts, a.Key+"="+a.Val)
		default:
			if !strings.HasPrefix(a.Key, "data-") {
				parts = append(parts, a.Key)
			}
		}
	}
	slices.Sort(parts[1:])
	return strings.Join(parts, " ")
}

// pageOf asks a handler for a page, also one that says that something failed.
func pageOf(t *testing.T, h http.Handler, address string) *goquery.Document {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	page, err := goquery.NewDocumentFromReader(w.Body)
	must.That(t, err == nil, "%s: %v", address, err)
	return page
}

func TestPageWithAnotherElementIsNew(t *testing.T) {
	pages := []struct {
		html string
		want bool
	}{
		{`<main><h1>One</h1><p class="note">Text</p></main>`, true},
		{`<main><h1>Two</h1><p class="note">More</p><p class="note">Again</p></main>`, false},
		{`<main><h1>Two</h1><p class="note is-failed">More</p></main>`, true},
		{`<main><h1>Two</h1><p class="note" aria-hidden="true">More</p></main>`, true},
		{`<section><h1>Two</h1><p class="note">More</p></section>`, true},
		{`<main><h1>One</h1><h3>Three</h3></main>`, true},
		{`<main><h3>Three</h3><h1>One</h1></main>`, true},
		{`<main><h3>Three</h3><h1>One</h1></main>`, false},
	}
	seen := markup{}
	for _, p := range pages {
		page := must.Get(goquery.NewDocumentFromReader(strings.NewReader(p.html)))
		expect.Equal(t, seen.add(markupOf(page)), p.want, "%s: new", p.html)
	}
}
