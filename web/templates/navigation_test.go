package templates

import (
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/static"
)

func TestEveryPageOfTheNavigationHasAnIcon(t *testing.T) {
	css, err := static.FS.ReadFile("css/icons.css")
	must.Do(t, err)
	everybody := You{MayLocate: true, MayOperate: true, MayAdmin: true}
	for _, e := range append(NavOf(everybody, true, true), NavOfServer(everybody)...) {
		if !strings.Contains(string(css), ".icon-"+e.Code+"::before") && e.Code != "clusters" { // in clusters.css
			t.Errorf("%s has no icon", e.Code)
		}
	}
}

func TestEachPageBelongsToOneEntry(t *testing.T) {
	everybody := You{MayLocate: true, MayOperate: true, MayAdmin: true}
	all := NavOf(everybody, true, true)
	expect.Equal(t, len(all), 9, "entries, want 8 and the lab")
	seen := map[string]bool{}
	for _, e := range all {
		for _, p := range e.Pages {
			expect.That(t, !seen[p.Code] && !seen[p.URL], "%s is there twice", p.URL)
			seen[p.Code], seen[p.URL] = true, true
		}
	}
}

func TestBarOfAPhoneLeadsToPagesOfTheNavigation(t *testing.T) {
	n := 0
	for _, e := range NavOf(You{MayLocate: true}, false, false) {
		if inBar(e.Code) {
			n++
		}
	}
	expect.Equal(t, n, 4, "pages in the bar, want 4 and the menu")
}
