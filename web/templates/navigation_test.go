package templates

import (
	"strings"
	"testing"

	"shardboard/static"
)

func TestEveryPageOfTheNavigationHasAnIcon(t *testing.T) {
	css, err := static.FS.ReadFile("css/icons.css")
	if err != nil {
		t.Fatal(err)
	}
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
	if len(all) != 9 {
		t.Errorf("%d entries, want 8 and the lab", len(all))
	}
	seen := map[string]bool{}
	for _, e := range all {
		for _, p := range e.Pages {
			if seen[p.Code] || seen[p.URL] {
				t.Errorf("%s is there twice", p.URL)
			}
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
	if n != 4 {
		t.Errorf("%d pages in the bar, want 4 and the menu", n)
	}
}
