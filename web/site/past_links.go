package site

import (
	"bytes"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"shardboard/internal/answer"
)

// timedPage tells whether an address is of a page that there is of a past time.
func (s *Site) TimedPage(path string) bool {
	rt, _ := s.routeAt(http.MethodGet, path)
	return rt.Time == Past
}

var (
	// A link of a page, which templates escape: no attribute holds a bare quote.
	linkAttr = regexp.MustCompile(`(data-plain )?\bhref="([^"#][^"]*)"`)
	getForm  = regexp.MustCompile(`<form [^>]*\bmethod="get"[^>]*>`)
	formTo   = regexp.MustCompile(`\baction="([^"]*)"`)
)

// takes tells whether a page has a carried parameter: the switch for internal
// collections where a page leaves them out, the others where there is a past.
func (s *Site) Takes(path, name string) bool {
	rt, _ := s.routeAt(http.MethodGet, path)
	if name == answer.InternalParam {
		return rt.shown() && rt.Internal
	}
	return rt.Time == Past
}

// carried are the parameters that lead from page to page: the time that is
// looked at, whether internal collections are shown, and what is watched without
// a script.
func carried(r *http.Request) url.Values {
	out := url.Values{}
	q := r.URL.Query()
	if at := q.Get("at"); at != "" {
		out.Set("at", at)
	}
	if q.Get(answer.InternalParam) == "1" {
		out.Set(answer.InternalParam, "1")
	}
	for _, w := range q["watch"][:min(len(q["watch"]), answer.MaxWatched)] {
		out.Add("watch", w)
	}
	return out
}

// carryInto makes a finished page lead to its own time.
func (s *Site) carryInto(r *http.Request, a *response) {
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), MediaHTML) {
		return
	}
	if with := s.carry(r, a.body.Bytes()); len(with) != a.body.Len() {
		a.body = *bytes.NewBuffer(with)
	}
}

// carry makes the links and filters of a page lead to the same time. A page of
// now that watches nothing stays as it is.
func (s *Site) carry(r *http.Request, page []byte) []byte {
	with := carried(r)
	if len(with) == 0 {
		return page
	}
	page = linkAttr.ReplaceAllFunc(page, func(m []byte) []byte {
		parts := linkAttr.FindSubmatch(m)
		if len(parts[1]) > 0 {
			return m
		}
		to, err := url.Parse(html.UnescapeString(string(parts[2])))
		if err != nil || to.Scheme != "" || to.Host != "" {
			return m
		}
		path, q, added := r.URL.ResolveReference(to).EscapedPath(), to.Query(), false
		for name, values := range with {
			if !q.Has(name) && s.Takes(path, name) {
				q[name], added = values, true
			}
		}
		if !added {
			return m
		}
		to.RawQuery = q.Encode()
		return []byte(`href="` + html.EscapeString(to.String()) + `"`)
	})
	return getForm.ReplaceAllFunc(page, func(m []byte) []byte {
		to := formTo.FindSubmatch(m)
		if to == nil || strings.Contains(string(m), "data-plain") {
			return m
		}
		path := html.UnescapeString(string(to[1]))
		m = slices.Clone(m) // it is a part of the page, which goes on behind it
		for name, values := range with {
			if !s.Takes(path, name) {
				continue
			}
			for _, v := range values {
				m = append(m, `<input type="hidden" name="`+html.EscapeString(name)+`" value="`+html.EscapeString(v)+`">`...)
			}
		}
		return m
	})
}
