// Package help shows the playbooks of docs/playbooks, what to do about a problem, step by step, and the runbooks of
// docs/runbooks, what an alert of Prometheus means. They are part of the program, so they can be read where nothing
// else can be reached.
package help

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/web/site"
)

// Routes of the playbooks.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/help", Summary: "Playbooks: what to do, step by step", Handler: Index}),
	site.Page(site.Route{Pattern: "/help/websockets", Summary: "What lets a proxy pass WebSockets", Handler: WebSockets}),
	site.Page(site.Route{Pattern: "/help/{playbook}", Summary: "One playbook", Handler: Page,
		Params: []site.Param{site.InPath("playbook", "name of a playbook")}}),
)

// Index lists the playbooks and the rules whose problems they solve.
func Index(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	sh := s.Shell(r, s.ViewFor(r), "help", "Playbooks")
	return site.WritePage(w, r, http.StatusOK, indexPage(sh, playbookList(), load(s)))
}

// load says how much shardboard asks of the cluster; "" while that is not known.
func load(s *site.Site) string {
	if s.Deps.Metrics.Cost == nil {
		return ""
	}
	n := int64(s.Deps.Metrics.Cost())
	return "shardboard sent " + format.Count(n) + message.Plural(n, " command", " commands") + " to the cluster in the last minute."
}

// Page is one playbook.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	for _, a := range playbookList() {
		if a.Name == chi.URLParam(r, "playbook") {
			sh := s.Shell(r, s.ViewFor(r), "help", s.Deps.Cluster.Profile.Words(a.Title))
			return site.WritePage(w, r, http.StatusOK, playbookPage(sh, a, s.Deps.Changes.Actions != nil || sh.OfServer))
		}
	}
	return fault.New(fault.NotFound, "There is no such playbook. All are listed at /help.")
}
