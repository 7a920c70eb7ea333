package help

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// RunbookRoutes are the pages that an alert of Prometheus leads to. They are the server's, so that one address in the
// rules serves all clusters.
var RunbookRoutes = site.Table(
	site.Page(site.Route{Pattern: "/runbooks", Summary: "Runbooks: what an alert of Prometheus means", Handler: Runbooks}),
	site.Page(site.Route{Pattern: "/runbooks/{runbook}", Summary: "One runbook", Handler: Runbook,
		Params: []site.Param{site.InPath("runbook", "name of a runbook"),
			site.Query("cluster", "name of the cluster that links lead to, on a server of several")}}),
)

// Runbooks lists them with their alerts.
func Runbooks(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	sh := s.Shell(r, s.ViewFor(r), "runbooks", "Runbooks")
	return site.WritePage(w, r, http.StatusOK, runbooksPage(sh, runbookList()))
}

// Runbook is one of them.
func Runbook(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	for _, a := range runbookList() {
		if a.Name == chi.URLParam(r, "runbook") {
			sh := s.Shell(r, s.ViewFor(r), "runbooks", s.Deps.Cluster.Profile.Words(a.Title))
			return site.WritePage(w, r, http.StatusOK, runbookPage(sh, a, clusterPagesOf(s, r, sh)))
		}
	}
	return fault.New(fault.NotFound, "There is no such runbook. All are listed at /runbooks.")
}

// clusterPages are where the links of a runbook lead.
type clusterPages struct {
	title string // of the cluster that was chosen, on a server of several
	link  func(address string) string
}

// clusterPagesOf are the pages of the only cluster, or of the one that the address names. Otherwise links lead to the
// list of clusters first.
func clusterPagesOf(s *site.Site, r *http.Request, sh templates.Shell) clusterPages {
	out := clusterPages{link: pagesOf(s.Deps.Changes.Actions != nil || sh.OfServer)}
	if !sh.OfServer {
		return out
	}
	for _, c := range s.Visible(auth.From(r.Context())) {
		if c.Name != r.URL.Query().Get("cluster") || c.Site == nil {
			continue
		}
		base, pages := templates.Base{Prefix: c.Base(), Server: s.Deps.Place.Base.Server}, pagesOf(c.Site.Deps.Changes.Actions != nil)
		out = clusterPages{c.Title, func(address string) string {
			if to := pages(address); to != "" {
				return base.Of(to)
			}
			return ""
		}}
	}
	return out
}
