package site_test

import (
	"strings"
	"testing"

	"shardboard/web/webtest"
)

func TestTheLastWatchedThingCanBeDroppedWithoutAScript(t *testing.T) {
	s := webtest.New(t)
	item := "watch=project%3A" + webtest.ProjectID(5).Hex()
	doc := webtest.ParseHTML(t, s.Do("GET", "/collections?"+item).Body.String())
	if to, ok := doc.Find("a.drop").Attr("href"); !ok || strings.Contains(to, "watch=") {
		t.Errorf("it leads to %q", to)
	}
	if to := doc.Find(`.entry a[href^="/zones"]`).AttrOr("href", ""); to != "/zones?"+item {
		t.Errorf("another page is at %q", to)
	}
}
