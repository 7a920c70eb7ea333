package site

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/web/templates"
)

// timeBar leads a page of r through time. It reads the store for a page of the
// past only; one of now is made from memory.
func (s *Site) timeBar(r *http.Request, v answer.View, nav string) templates.TimeBar {
	path := r.URL.EscapedPath()
	if s.Deps.History == nil || !s.TimedPage(path) || v.Table.ClusterID == "" {
		return templates.TimeBar{}
	}
	q := r.URL.Query()
	at := q.Get("at")
	q.Del("at")
	here := path
	if len(q) > 0 {
		here += "?" + q.Encode()
	}
	m := templates.TimeBar{On: true, NowURL: here, Action: path}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		for _, value := range q[name] {
			m.Keep = append(m.Keep, templates.Option{Text: name, Value: value})
		}
	}
	step := func(to, of string) string {
		u := url.Values{"page": {here}, "to": {to}, "of": {of}}
		if at != "" {
			u.Set("at", at)
		}
		return "/history/step?" + u.Encode()
	}
	m.Prev, m.Next = step("prev", "change"), step("next", "change")
	m.PrevFailure, m.NextFailure = step("prev", "failure"), step("next", "failure")
	if v.Past == nil {
		m.Latest = v.Now.UTC().Format(answer.FieldTime)
		m.Compare = "/compare"
		return m
	}
	p := v.Past
	m.At, m.Latest, m.Input = p.At, p.Now.UTC().Format(answer.FieldTime), p.At.Format(answer.FieldTime)
	m.Looking = fmt.Sprintf("You are looking at %s (%s ago).", answer.FullInstant(p.At), format.Span(p.Now.Sub(p.At)))
	m.Compare = "/compare?" + url.Values{"from": {answer.AtText(p.At)}}.Encode()
	m.Notes = PastNotes(p, nav)
	s.timePicture(r, v, here, &m)
	return m
}

// PastNotes say what may be missing, and what is not of that time.
func PastNotes(p *answer.PastTime, nav string) []templates.State {
	var out []templates.State
	if !p.Watched {
		n := templates.State{Code: "stale", Title: "Nothing was recorded then."}
		if p.Next.IsZero() {
			n.Detail = "This is the state of " + answer.FullInstant(p.Last) + "; changes since then may be missing."
		} else {
			n.Detail = fmt.Sprintf("This is the state of %s; changes until %s may be missing.", answer.FullInstant(p.Last), answer.FullInstant(p.Next))
		}
		out = append(out, n)
	}
	if nav == "projects" || nav == "shards" {
		out = append(out, templates.State{Code: "partial", Title: "The list of projects is today's.", Detail: "Names and counts are of now; where each project is, is of the time shown."})
	}
	return out
}

// timePicture fills in what happened around the time. The bar works without it:
// a store that fails here must not take the page away.
func (s *Site) timePicture(r *http.Request, v answer.View, here string, m *templates.TimeBar) {
	chosen := r.URL.Query().Get("span")
	long := 24 * time.Hour
	for _, x := range answer.TimeSpans {
		if x.Code == chosen {
			long = x.Long
		}
	}
	p := v.Past
	to := p.At.Add(long / 2)
	if to.After(p.Now) {
		to = p.Now
	}
	from := to.Add(-long)
	for _, x := range answer.TimeSpans {
		u, err := url.Parse(here)
		if err != nil {
			continue
		}
		q := u.Query()
		q.Set("span", x.Code)
		q.Set("at", answer.AtText(p.At))
		u.RawQuery = q.Encode()
		m.Spans = append(m.Spans, templates.TimeSpan{Text: format.Span(x.Long), URL: u.String(), Current: x.Long == long})
	}
	m.From, m.To = templates.Moment{At: from, Text: answer.FullInstant(from)}, templates.Moment{At: to, Text: answer.FullInstant(to)}
	m.FromMs, m.ToMs, m.AtMs = from.UnixMilli(), to.UnixMilli(), p.At.UnixMilli()
	m.Here = templates.Percent(float64(p.At.Sub(from)) / float64(to.Sub(from)))
	ticks, err := s.Deps.History.Ticks(r.Context(), v.Table.ClusterID, from, to, answer.TimeTicks)
	if err != nil {
		s.Deps.Log.WarnContext(r.Context(), "history cannot be read", "err", err)
		m.Notes = append(m.Notes, templates.State{Code: "failed", Title: "What happened around this time could not be read."})
		return
	}
	drawTicks(ticks, from, to, m)
}

// drawTicks makes bars whose height is the logarithm of how much happened;
// failures are drawn in front of them.
func drawTicks(ticks []history.Tick, from, to time.Time, m *templates.TimeBar) {
	const high, wide = 24.0, 1000.0 / answer.TimeTicks
	most, changes, failures := 1, 0, 0
	for _, k := range ticks {
		most = max(most, k.Changes)
		changes, failures = changes+k.Changes, failures+k.Failures
	}
	height := func(n int) float64 {
		return 3 + (high-3)*math.Log1p(float64(n))/math.Log1p(float64(most))
	}
	add := func(i, n int, failed bool) {
		if n == 0 {
			return
		}
		h := min(height(n), high)
		at := from.Add(to.Sub(from) / time.Duration(len(ticks)) * time.Duration(i))
		title := message.Plural(int64(n), "1 change from "+answer.FullInstant(at), fmt.Sprintf("%s changes from %s", format.Count(int64(n)), answer.FullInstant(at)))
		if failed {
			title = message.Plural(int64(n), "1 failure from "+answer.FullInstant(at), fmt.Sprintf("%s failures from %s", format.Count(int64(n)), answer.FullInstant(at)))
		}
		m.Ticks = append(m.Ticks, templates.TimeTick{X: templates.Units(float64(i)*wide, 1), W: templates.Units(wide*0.8, 1), Failed: failed,
			Y: templates.Units(high-h, 1), H: templates.Units(h, 1),
			Title: title})
	}
	for i, k := range ticks {
		add(i, k.Changes, false)
		add(i, k.Failures, true)
	}
	m.Summary = fmt.Sprintf("%s changes and %s failures from %s to %s", format.Count(int64(changes)), format.Count(int64(failures)), answer.FullInstant(from), answer.FullInstant(to))
}

// OwnPage tells whether an address is that of a page here that has a past.
func (s *Site) OwnPage(page string) bool {
	u, err := url.Parse(page)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil && strings.HasPrefix(page, "/") && !strings.HasPrefix(page, "//") &&
		!strings.Contains(page, "\\") && s.TimedPage(u.EscapedPath())
}
