// Package find goes to anything by a few characters of its name: pages, projects, shards,
// collections, zones, runs, and the forms of changes.
package find

import (
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// recentRuns is how many runs are looked through.
const recentRuns = 50

// Routes of finding.
var Routes = site.Table(
	site.Asked(site.Route{Pattern: "/find", Summary: "What a few typed characters may mean: pages, projects, shards, collections, changes",
		Params: []site.Param{site.Query("q", "words; each is a part of the name"),
			site.Query("kind", "project: projects only")}, Quiet: true}, find),
)

func find(s *site.Site, r *http.Request) (api.Found, error) {
	v := s.ViewFor(r)
	who := auth.From(r.Context())
	you := templates.You{MayLocate: who.May(auth.Support), MayOperate: who.May(auth.Operator), MayAdmin: who.May(auth.Admin)}
	in := answer.FindIn{}
	for _, e := range templates.NavOf(you, s.Deps.Actions != nil, s.Deps.History != nil) {
		in.Pages = append(in.Pages, api.FoundItem{Kind: "page", Name: e.Name, URL: e.URL})
	}
	if s.Deps.Actions != nil {
		if you.MayOperate {
			in.Changes = actions.Kinds()
		}
		in.Runs = func() []api.Run {
			// Runs that cannot be read are left out: the page of runs says why.
			runs, err := answer.Runs(r.Context(), v, s.Deps.Actions, answer.RunsQuery{}, recentRuns)
			if err != nil {
				return nil
			}
			return runs.Items
		}
	}
	return answer.FindByName(v, r.URL.Query(), in)
}
