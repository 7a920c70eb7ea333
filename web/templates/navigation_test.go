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
	for _, e := range NavOf(everybody, true, true) {
		if has := strings.Contains(string(css), ".icon-"+e.Code+"::before"); has != e.InNav {
			t.Errorf("%s: icon %t, in the navigation %t", e.Code, has, e.InNav)
		}
	}
}

func TestBarOfAPhoneLeadsToPagesOfTheNavigation(t *testing.T) {
	n := 0
	for _, e := range NavOf(You{MayLocate: true}, false, false) {
		if inBar(e.Code) {
			n++
			if !e.InNav {
				t.Errorf("%s has no icon", e.Code)
			}
		}
	}
	if n != 4 {
		t.Errorf("%d pages in the bar, want 4 and the menu", n)
	}
}
