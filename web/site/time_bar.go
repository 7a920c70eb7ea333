package site

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/web/templates"
)

// timeBar leads a page of r through time. It reads the store for a page of the
// past only; one of now is made from memory.
func (s *Site) timeBar(r *http.Request, v answer.View, nav string) templates.TimeBar {
	path := r.URL.EscapedPath()
	if s.Deps.Past.History == nil || !s.TimedPage(path) || v.Table.ClusterID == "" {
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
	m.Looking = logbook.LookingAt(p)
	m.Compare = "/compare?" + url.Values{"from": {answer.AtText(p.At)}}.Encode()
	m.Notes = logbook.PastNotes(v, nav == "projects" || nav == "shards")
	s.timePicture(r, v, here, &m)
	return m
}

// fitToTime fits what surrounds a page to the time that it shows. A page of the
// past has no live updates and offers nothing to do: what it shows is over.
func (s *Site) fitToTime(r *http.Request, v answer.View, sh *templates.Shell) {
	sh.Time = s.timeBar(r, v, sh.Nav)
	if m, err := s.Watching(r, v); err == nil {
		sh.Watching = m
	}
	if v.Past != nil {
		sh.Topics = nil
		sh.You.MayOperate, sh.You.MayAdmin = false, false
	}
}

// OwnPage tells whether an address is that of a page here that has a past.
func (s *Addresses) OwnPage(page string) bool {
	u, err := url.Parse(page)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil && strings.HasPrefix(page, "/") && !strings.HasPrefix(page, "//") &&
		!strings.Contains(page, "\\") && s.TimedPage(u.EscapedPath())
}
