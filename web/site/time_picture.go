package site

import (
	"math"
	"net/http"
	"net/url"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/web/templates"
)

// pictureSpans are how much time the picture can show.
var pictureSpans = [...]struct {
	code string
	long time.Duration
}{{"1h", time.Hour}, {"6h", 6 * time.Hour}, {"1d", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}, {"35d", history.Keep}}

// The picture's parts, and its size in units of its own.
const (
	pictureParts = 200
	pictureWidth = 1000.0
	pictureHigh  = 24.0
)

// timePicture adds what happened around the time. The bar works without it: a
// store that fails here must not take the page away.
func (s *Site) timePicture(r *http.Request, v answer.View, here string, m *templates.TimeBar) {
	long := 24 * time.Hour
	for _, x := range pictureSpans {
		if x.code == r.URL.Query().Get("span") {
			long = x.long
		}
	}
	p := v.Past
	m.Spans = spanLinks(here, p.At, long)
	to := p.At.Add(long / 2)
	if to.After(p.Now) {
		to = p.Now
	}
	from := to.Add(-long)
	m.From, m.To = templates.Moment{At: from, Text: answer.FullInstant(from)}, templates.Moment{At: to, Text: answer.FullInstant(to)}
	m.FromMs, m.ToMs, m.AtMs = from.UnixMilli(), to.UnixMilli(), p.At.UnixMilli()
	m.Here = templates.Percent(float64(p.At.Sub(from)) / float64(to.Sub(from)))
	ticks, err := s.Deps.History.Ticks(r.Context(), v.Table.ClusterID, from, to, pictureParts)
	if err != nil {
		s.Deps.Log.WarnContext(r.Context(), "history cannot be read", "err", err)
		m.Notes = append(m.Notes, api.State{Code: "failed", Title: "What happened around this time could not be read."})
		return
	}
	drawTicks(ticks, from, to, m)
}

// spanLinks lead to the same page with more or less time in its picture.
func spanLinks(here string, at time.Time, long time.Duration) []templates.TimeSpan {
	var out []templates.TimeSpan
	for _, x := range pictureSpans {
		u, err := url.Parse(here)
		if err != nil {
			continue
		}
		q := u.Query()
		q.Set("span", x.code)
		q.Set("at", answer.AtText(at))
		u.RawQuery = q.Encode()
		out = append(out, templates.TimeSpan{Text: format.Span(x.long), URL: u.String(), Current: x.long == long})
	}
	return out
}

// drawTicks makes bars whose height is the logarithm of how much happened;
// failures are drawn in front of changes.
func drawTicks(ticks []history.Tick, from, to time.Time, m *templates.TimeBar) {
	const wide = pictureWidth / pictureParts
	most, changes, failures := 1, 0, 0
	for _, k := range ticks {
		most = max(most, k.Changes)
		changes, failures = changes+k.Changes, failures+k.Failures
	}
	bar := func(i, n int, what string, failed bool) {
		if n == 0 {
			return
		}
		high := min(3+(pictureHigh-3)*math.Log1p(float64(n))/math.Log1p(float64(most)), pictureHigh)
		at := from.Add(to.Sub(from) / time.Duration(len(ticks)) * time.Duration(i))
		m.Ticks = append(m.Ticks, templates.TimeTick{Failed: failed, Title: counted(n, what) + " from " + answer.FullInstant(at),
			X: templates.Units(float64(i)*wide, 1), W: templates.Units(wide*0.8, 1),
			Y: templates.Units(pictureHigh-high, 1), H: templates.Units(high, 1)})
	}
	for i, k := range ticks {
		bar(i, k.Changes, "change", false)
		bar(i, k.Failures, "failure", true)
	}
	m.Summary = counted(
		changes,
		"change",
	) + " and " + counted(
		failures,
		"failure",
	) + " from " + answer.FullInstant(
		from,
	) + " to " + answer.FullInstant(
		to,
	)
}

// counted is a number of things: "1 change", "2 changes".
func counted(n int, what string) string {
	return format.Count(int64(n)) + " " + message.Plural(n, what, what+"s")
}
