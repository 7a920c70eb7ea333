package answer_test

import (
	"strconv"
	"testing"

	"shardboard/internal/answer"
	"shardboard/web/templates"
)

func TestPagerKeepsWithinItsList(t *testing.T) {
	link := func(p int) string { return strconv.Itoa(p) }
	for _, c := range []struct{ n, page, from, to int }{{0, 1, 0, 0}, {1, 0, 0, 1}, {50, 1, 0, 50}, {51, 2, 50, 51}, {51, 99, 50, 51},
		{200, 2, 50, 100}} {
		p := templates.PagerOf(c.n, c.page, link)
		_, from, to := answer.PageOf(c.n, c.page)
		if from != c.from || to != c.to || p.To != c.to || p.From != min(c.from+1, c.n) ||
			(p.Prev == "") != (from == 0) || (p.Next == "") != (to == c.n) {
			t.Errorf("%+v: %d–%d %+v", c, from, to, p)
		}
	}
}
