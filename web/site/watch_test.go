package site_test

import (
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

func TestTheLastWatchedThingCanBeDroppedWithoutAScript(t *testing.T) {
	s := webtest.New(t)
	item := "watch=project%3A" + webtest.ProjectID(5).Hex()
	doc := s.Page(t, "/collections?"+item)
	to, ok := doc.Find("a.drop").Attr("href")
	expect.That(t, ok && !strings.Contains(to, "watch="), "it leads to %q", to)
	expect.Equal(t, doc.Find(`.entry a[href^="/zones"]`).AttrOr("href", ""), "/zones?"+item, "another page")
}
