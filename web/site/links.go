package site

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/writes"
	"shardboard/web/templates"
)

// TimedPage tells whether an address is of a page that there is of a past time.
func (s *Addresses) TimedPage(path string) bool {
	rt, _ := s.routeAt(http.MethodGet, path)
	return rt.Time == Past
}

// Last is the parameter by which all pages about a time choose it; links keep it.
var Last = Query(logbook.LastParam, "the time up to now: 1h, 6h, 1d, 7d or 35d")

func (rt Route) takesLast() bool {
	return slices.ContainsFunc(rt.Params, func(p Param) bool { return p.Name == logbook.LastParam })
}

// takes tells whether a page has a kept parameter: the switch for internal
// collections where a page leaves them out, the others where there is a past.
func (s *Addresses) takes(path, name string) bool {
	rt, _ := s.routeAt(http.MethodGet, path)
	switch name {
	case answer.InternalParam:
		return rt.shown() && rt.Internal
	case writes.WindowParam:
		return rt.shown() && rt.Writes
	case logbook.LastParam:
		return rt.shown() && rt.takesLast()
	}
	return rt.Time == Past
}

// withLinks makes the page of a past time lead to that time. A page of now that
// watches nothing and shows nothing internal keeps nothing.
func (s *Site) withLinks(ctx context.Context, r *http.Request) context.Context {
	keep := kept(r.URL.Query())
	if len(keep) == 0 {
		return ctx
	}
	return templates.WithLinks(ctx, templates.Links{Page: r.URL, Keep: keep, Takes: s.takes})
}

// kept are the parameters that lead from page to page: the time that is looked at,
// whether internal collections are shown, and what is watched without a script.
func kept(q url.Values) url.Values {
	out := url.Values{}
	if at := q.Get("at"); at != "" {
		out.Set("at", at)
	}
	if q.Get(answer.InternalParam) == "1" {
		out.Set(answer.InternalParam, "1")
	}
	if d, err := writes.ParseWindow(q); err == nil && d != answer.DefaultWindow {
		out.Set(writes.WindowParam, writes.ShortDuration(d))
	}
	if logbook.LongOf(q.Get(logbook.LastParam)) > 0 {
		out.Set(logbook.LastParam, q.Get(logbook.LastParam))
	}
	for _, w := range q["watch"][:min(len(q["watch"]), changing.MaxWatched)] {
		out.Add("watch", w)
	}
	return out
}

// LocalPage gives back an address when it is the address of one of our own
// pages, and "" otherwise. Not a list of what is dangerous but of what is
// there: the path must be one that the router has a page for. The address may be as browsers have it.
func (s *Addresses) LocalPage(address string) string {
	address = WithoutRoot(s.place.Base.Root, address)
	if len(address) > maxNext || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") {
		return ""
	}
	for i := range len(address) { // browsers drop some controls and turn \ into /
		if c := address[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			return ""
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" {
		return ""
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == "." || part == ".." {
			return ""
		}
	}
	path := u.EscapedPath()
	if rt, _ := s.routeAt(http.MethodGet, path); !rt.shown() && !s.pageOfCluster(path) {
		return ""
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// pageOfCluster tells whether an address on the server's own site is that of a page that clusters have.
// Whether there is a cluster of that name is not looked at: who is not signed in shall not learn it.
func (s *Addresses) pageOfCluster(path string) bool {
	rest, ok := strings.CutPrefix(path, "/c/")
	name, within, slash := strings.Cut(rest, "/")
	return ok && slash && name != "" && !s.ofCluster() && s.place.ClusterPage != nil && s.place.ClusterPage("/"+within)
}

// maxNext bounds the way back in the address of the sign-in page.
const maxNext = 2048
