package templates

import (
	"strconv"

	"shardboard/internal/format"
	"shardboard/internal/message"
)

// hourPicture is the writes of the last hour, one bar for each minute.
type hourPicture struct {
	Bars []hourBar
	Text string
}

type hourBar struct{ X, Y, Height string }

// hourOf draws what was counted; it is empty where nothing was.
func hourOf(minutes []*float64) (out hourPicture) {
	most, counted := 0.0, 0
	for _, m := range minutes {
		if m != nil {
			most, counted = max(most, *m), counted+1
		}
	}
	if counted == 0 || most == 0 {
		return out
	}
	const height = 30.0
	text := func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
	for i, m := range minutes {
		if m != nil {
			h := max(height**m/most, 1)
			out.Bars = append(out.Bars, hourBar{strconv.Itoa(4 * i), text(height + 1 - h), text(h)})
		}
	}
	out.Text = "Last hour, by minute: at most " + format.PerSecond(most) + " writes/s"
	if n := len(minutes) - counted; n > 0 {
		out.Text += "; " + strconv.Itoa(n) + message.Plural(n, " minute was not counted", " minutes were not counted")
	}
	out.Text += "."
	return out
}
