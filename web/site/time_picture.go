package site

import (
	"math"
	"net/http"
	"net/url"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/templates"
)

// The picture's size in units of its own.
const (
	pictureWidth = 1000.0
	pictureHigh  = 24.0
)

// timePicture draws what happened around the time. The bar works without it: a
// store that fails here must not take the page away.
func (s *Site) timePicture(r *http.Request, v answer.View, here string, m *templates.TimeBar) {
	p := v.Past
	around, err := logbook.AroundTime(r.Context(), s.Deps.Past.History, v.Table.ClusterID, p, r.URL.Query().Get("span"))
	m.Spans = spanLinks(here, p.At, around.Long)
	m.From = templates.Moment{At: around.From, Text: answer.FullInstant(around.From)}
	m.To = templates.Moment{At: around.To, Text: answer.FullInstant(around.To)}
	m.Here = templates.Percent(float64(p.At.Sub(around.From)) / float64(around.Long))
	if err != nil {
		s.Deps.Log.WarnContext(r.Context(), "history cannot be read", "err", err)
		m.Notes = append(m.Notes, api.State{Code: "failed", Title: "What happened around this time could not be read."})
		return
	}
	m.Summary, m.Ticks = around.Summary.String(), drawTicks(around)
}

// spanLinks lead to the same page with more or less time in its picture.
func spanLinks(here string, at time.Time, long time.Duration) []templates.TimeSpan {
	u, err := url.Parse(here)
	if err != nil {
		return nil
	}
	var out []templates.TimeSpan
	for _, x := range logbook.TimeSpans {
		q := u.Query()
		q.Set("span", x.Code)
		q.Set("at", answer.AtText(at))
		u.RawQuery = q.Encode()
		out = append(out, templates.TimeSpan{Text: format.Span(x.Long), URL: u.String(), Current: x.Long == long})
	}
	return out
}

// drawTicks makes bars whose height is the logarithm of how much happened. A failure
// comes after the changes of its time, so that it is drawn in front of them.
func drawTicks(a api.TimeAround) []templates.TimeTick {
	wide := pictureWidth / float64(a.Parts)
	most := math.Log1p(float64(max(a.Most, 1)))
	var out []templates.TimeTick
	for _, k := range a.Ticks {
		high := min(3+(pictureHigh-3)*math.Log1p(float64(k.N))/most, pictureHigh)
		out = append(out, templates.TimeTick{Failed: k.Failed, Title: k.Title.String(),
			X: templates.Units(float64(k.Part)*wide, 1), W: templates.Units(wide*0.8, 1),
			Y: templates.Units(pictureHigh-high, 1), H: templates.Units(high, 1)})
	}
	return out
}
