package webtest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"shardboard/static"
)

// unfilled is what is left of a sentence that is missing, or whose parts are.
var unfilled = regexp.MustCompile(`\[[a-z]+\.[a-zA-Z._-]+\]|%!|\{[a-z]+\}|NaN`)

// FaultsOfPage says what is wrong with any page: a part of each page that is missing, a sentence that is missing or
// unfilled, or what the policy of browsers forbids.
func FaultsOfPage(doc *goquery.Document) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, sel := range []string{"h1", "main#main", "a.skip[href='#main']", "title"} {
		if doc.Find(sel).Length() == 0 {
			fault("no %s", sel)
		}
	}
	if doc.Find("body.bare").Length() == 0 {
		for _, sel := range []string{"header", "nav[aria-label]", "[role=status][aria-live=polite]", "#status .words"} {
			if doc.Find(sel).Length() == 0 {
				fault("no %s", sel)
			}
		}
	}
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			switch {
			case a.Key == "style", strings.HasPrefix(a.Key, "on"):
				fault("<%s %s>", goquery.NodeName(s), a.Key)
			case (a.Key == "src" || a.Key == "href" || a.Key == "action") && strings.Contains(a.Val, "//"):
				fault("%s leaves the site", a.Val)
			}
		}
	})
	doc.Find("script").Each(func(_ int, s *goquery.Selection) {
		if _, ok := static.Open(s.AttrOr("src", "")); !ok || strings.TrimSpace(s.Text()) != "" {
			fault("script %q", s.AttrOr("src", ""))
		}
	})
	if doc.Find("style").Length() > 0 {
		fault("a style element")
	}
	read := doc.Find("body").Clone()
	read.Find("code, script, template").Remove()
	if text := unfilled.FindString(read.Text()); text != "" {
		fault("a sentence is missing or unfilled: %s", text)
	}
	return faults
}
