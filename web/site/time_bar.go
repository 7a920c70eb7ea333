package site

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
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
func PastNotes(p *answer.PastTime, nav string) []api.State {
	var out []api.State
	if !p.Watched {
		n := api.State{Code: "stale", Title: "Nothing was recorded then."}
		if p.Next.IsZero() {
			n.Detail = "This is the state of " + answer.FullInstant(p.Last) + "; changes since then may be missing."
		} else {
			n.Detail = fmt.Sprintf("This is the state of %s; changes until %s may be missing.",
				answer.FullInstant(p.Last), answer.FullInstant(p.Next))
		}
		out = append(out, n)
	}
	if nav == "projects" || nav == "shards" {
		out = append(out, api.State{Code: "partial", Title: "The list of projects is the current one.",
			Detail: "Names and counts are current; where each project is, is as of the time shown."})
	}
	return out
}

// OwnPage tells whether an address is that of a page here that has a past.
func (s *Site) OwnPage(page string) bool {
	u, err := url.Parse(page)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil && strings.HasPrefix(page, "/") && !strings.HasPrefix(page, "//") &&
		!strings.Contains(page, "\\") && s.TimedPage(u.EscapedPath())
}
