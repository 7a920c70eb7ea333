// Package projects shows which shards hold which projects.
package projects

import (
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// ListPage lists every project and its shards; ?q= searches by name, id and
// public key, ?page= turns pages.
func ListPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := param.Read[spread.ProjectsQuery](r.URL.Query())
	if err != nil {
		return err
	}
	v, err := s.ViewAt(r)
	if err != nil {
		return err
	}
	liveURL := ""
	if q != (spread.ProjectsQuery{}) {
		liveURL = r.URL.RequestURI()
	}
	region, err := listOf(v, s.Deps.Cluster.Profile, q, liveURL)
	if err != nil {
		return err
	}
	sh := s.Shell(r, v, "projects", s.Deps.Cluster.Profile.TenantWords().Many, "projects")
	return site.WritePage(w, r, http.StatusOK, listPage(sh, q, region))
}

// ListRegion is the live region of the whole list.
func ListRegion(v answer.View, p *profile.Profile) (templ.Component, error) {
	return listOf(v, p, spread.ProjectsQuery{}, "")
}

func listOf(v answer.View, p *profile.Profile, q spread.ProjectsQuery, liveURL string) (templ.Component, error) {
	list, err := spread.Projects(v, p, q)
	if err != nil {
		return nil, err
	}
	return listRegion(listView{Projects: list, liveURL: liveURL, query: q,
		pager: templates.PagerOf(list.Found, q.Page, q.URL), shards: templates.RefsOf(v.Table), now: v.Now, over: v.LastWrites(),
		damaged: data.DamagedNotes(v.Table)}), nil
}

// markTitles say what the marks of projects mean.
var markTitles = map[string]string{
	"hot":       "A problem of writes is about it.",
	"pinned":    "A zone keeps it on its shards.",
	"oversized": "A chunk of it was too large to be moved (jumbo).",
}

// sortedHow is the direction of an order.
func sortedHow(by string) string {
	if by == spread.ProjectsByName {
		return "ascending"
	}
	return "descending"
}

func bytesOf(f api.MatrixFigure) templates.Figure {
	if f.Value == nil {
		return templates.Figure{Text: format.Unknown, Title: topology.ReasonText(f.Reason)}
	}
	return templates.Figure{Known: true, Text: format.Bytes(*f.Value), Approx: !f.Exact, Title: "Estimated from sampled rows, uncompressed"}
}

// writesOf is a rate of the time that over names.
func writesOf(r api.MatrixRate, over string) templates.Figure {
	if r.Value == nil {
		return templates.Figure{Text: format.Unknown, Title: topology.ReasonText(r.Reason)}
	}
	return templates.Figure{Known: true, Text: format.PerSecond(*r.Value), Approx: !r.Exact,
		Title: "Counted rows per second in " + over}
}

// list lists projects; a search is in order of relevance.
func list(s *site.Site, r *http.Request) (a api.Projects, err error) {
	v, err := loaded(s, r)
	if err != nil {
		return a, err
	}
	q, err := param.Read[spread.ProjectsListQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	list, err := spread.Projects(v, s.Deps.Cluster.Profile, q.ProjectsQuery)
	if err != nil {
		return a, err
	}
	return list, nil
}

// loaded is the view that the request asks for, once table and projects were read.
func loaded(s *site.Site, r *http.Request) (answer.View, error) {
	v, err := s.LoadedAt(r)
	if err == nil {
		err = answer.CheckProjects(v)
	}
	return v, err
}
