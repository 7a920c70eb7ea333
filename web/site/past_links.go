package site

import (
	"bytes"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// timed are the pages and answers that there are of a past time too.
var timed = [...]string{
	"/", "/shards/{name}", "/shards/{name}.csv", "/collections", "/collections.csv", "/collections/{ns}", "/collections/{ns}/chunks/{ref}",
	"/projects", "/projects/{id}", "/zones", "/activity",
	"/api/v1/cluster", "/api/v1/shards", "/api/v1/shards/{name}", "/api/v1/collections", "/api/v1/collections/{ns}",
	"/api/v1/collections/{ns}/chunks", "/api/v1/collections/{ns}/chunks/{ref}/why", "/api/v1/collections/{ns}/map",
	"/api/v1/projects", "/api/v1/projects/{id}", "/api/v1/projects/{id}/why", "/api/v1/zones", "/api/v1/activity",
	"/api/v1/activity/migrations", "/api/v1/activity/failures",
}

func isTimed(pattern string) bool { return slices.Contains(timed[:], pattern) }

// ofNow are pages and, under the API's prefix, answers of now alone that belong
// to the same questions.
var ofNow = [...]string{
	"/heat", "/heat/map", "/heat/range", "/heat/projects", "/heat/documents", "/heat/chunks", "/heat/shards",
	"/advice", "/alerts", "/layout", "/surveys", "/surveys/{survey}", "/collections/{ns}/chunks/{ref}/size",
}

// nowOnly refuses a past time where there is only now: who asks for one must not
// take the answer for it.
func nowOnly(h func(*Site, http.ResponseWriter, *http.Request) error) func(*Site, http.ResponseWriter, *http.Request) error {
	return func(s *Site, w http.ResponseWriter, r *http.Request) error {
		if r.URL.Query().Has("at") {
			return fault.New(fault.Invalid, "There is only now at %s: no past is kept of what it shows. Leave %q out.", sanitize.Truncate(r.URL.Path, 200), "at")
		}
		return h(s, w, r)
	}
}

// withTime describes ?at= at each route that has it, and refuses it at those that
// are of now alone.
func WithTime(table []Route) []Route {
	for i, rt := range table {
		if rt.Method == http.MethodGet && slices.Contains(ofNow[:], strings.TrimPrefix(rt.Pattern, api.Prefix)) {
			table[i].Handler = nowOnly(rt.Handler)
		}
		if rt.Method == http.MethodGet && isTimed(rt.Pattern) {
			table[i].Params = append(slices.Clone(rt.Params), Query("at", "a past time, RFC 3339 or milliseconds since 1970; default now"))
		}
	}
	return table
}

// timedPage tells whether an address is of a page that there is of a past time.
func (s *Site) TimedPage(path string) bool {
	return isTimed(s.Mux.Find(chi.NewRouteContext(), http.MethodGet, path))
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
	if name == answer.InternalParam {
		return slices.Contains(answer.FoldingPages[:], s.Mux.Find(chi.NewRouteContext(), http.MethodGet, path))
	}
	return s.TimedPage(path)
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
