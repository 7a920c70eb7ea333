package web_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web"
	"shardboard/web/templates"
)

// A page that docs/pages.md does not explain, or one that it explains and that is gone, is found here.
func TestTheDocumentOfThePagesHasEveryPage(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/pages.md"))
	var described []string
	for _, line := range regexp.MustCompile(`(?m)^- \*\*[^*]+\*\* ([^:]+): (.+)`).FindAllStringSubmatch(string(text), -1) {
		for _, m := range regexp.MustCompile("`(/[^`]*)`").FindAllStringSubmatch(line[1], -1) {
			described = append(described, m[1])
		}
	}
	pages := web.Pages()
	for _, p := range pages {
		if !slices.Contains(described, p) {
			t.Errorf("docs/pages.md does not describe %s", p)
		}
	}
	for _, p := range described {
		if !slices.Contains(pages, p) {
			t.Errorf("docs/pages.md describes %s, which is no page", p)
		}
	}
}

// The document leads through the pages as the navigation does.
func TestTheDocumentOfThePagesFollowsTheNavigation(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/pages.md"))
	at := 0
	for _, e := range templates.NavOf(templates.You{MayLocate: true, MayOperate: true, MayAdmin: true}, true, true) {
		next := strings.Index(string(text), "\n## "+e.Name+"\n")
		if next < at {
			t.Errorf("## %s is missing or not in the order of the navigation", e.Name)
			continue
		}
		at = next
		section, _, _ := strings.Cut(string(text[at+1:]), "\n## ")
		for _, p := range e.Pages {
			expect.Contains(t, section, "** `"+p.URL+"`:", "%s does not stand below ## %s", p.URL, e.Name)
		}
	}
	if at == 0 {
		t.Error("the navigation is empty")
	}
}
