package matrix_test

import (
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer"
	"shardboard/internal/answer/spread"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

func TestCellsSayHowOldTheyAreAfterAnHour(t *testing.T) {
	v := webtest.NewStory().View()
	for after, want := range map[time.Duration]string{0: "", 59 * time.Minute: "", 3*time.Hour + 5*time.Minute: "3 h old"} {
		later := v
		later.Now = v.Now.Add(after)
		doc := serve(t, later).Page(t, "/matrix")
		cells, old := 0, 0
		doc.Find(".grid tbody td").Each(func(_ int, td *goquery.Selection) {
			cells++
			if got := td.Find(".old").Text(); got != "" {
				old++
				expect.Equal(t, got, want, "a cell after %s", after)
			}
		})
		expect.That(t, cells != 0 && (old > 0) == (want != ""), "after %s %d of %d cells say their age", after, old, cells)
	}
	// Numbers of a past time are as old as they were then.
	past := v
	past.Now, past.Past = v.Now.Add(3*time.Hour), &answer.PastTime{At: v.Now, Now: v.Now}
	for _, r := range spread.Matrix(past, spread.MatrixSource{}, spread.MatrixQuery{}).Rows {
		expect.Equal(t, r.Total.Age, "", "at a past time %s", r.Name)
	}
}
