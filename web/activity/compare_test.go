package activity_test

import (
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer"
	"shardboard/web/webtest"
)

func TestNoTwoFiguresOfAComparedShardHaveOneLabel(t *testing.T) {
	x := webtest.NewPastServer(t)
	x.Move(4, "shard-rs-1")
	row := webtest.ParseHTML(
		t,
		x.Do("GET", "/compare?from="+answer.AtText(webtest.Epoch)+"&to="+answer.AtText(x.Now)).Body.String(),
	).Find(
		".twotimes tbody tr",
	).First()
	seen := map[string]bool{}
	row.Find("td[data-label]").Each(func(_ int, cell *goquery.Selection) {
		label := cell.AttrOr("data-label", "")
		if seen[label] {
			t.Errorf("%q twice", label)
		}
		seen[label] = true
	})
	if len(seen) != 6 {
		t.Errorf("%v", seen)
	}
}
