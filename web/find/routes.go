// Package find goes to anything by a few characters of its name: pages, projects, shards,
// collections, zones, runs, plans, and the forms of changes.
package find

import (
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/locating"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// How many are looked through, the newest first.
const (
	recentRuns  = 50
	recentPlans = 50 // that were never run
)

// Routes of finding.
var Routes = site.Table(
	site.Asked(site.Route{Pattern: "/find", Summary: "What a few typed characters may mean: pages, projects, shards, collections, changes",
		Params: site.Takes[locating.FindQuery](), Quiet: true}, find),
)

func find(s *site.Site, r *http.Request) (api.Found, error) {
	q, err := param.Read[locating.FindQuery](r.URL.Query())
	if err != nil {
		return api.Found{}, err
	}
	v := s.ViewFor(r)
	who := auth.From(r.Context())
	you := templates.You{MayLocate: s.MayLocate(who), MayOperate: who.May(auth.Operator), MayAdmin: who.May(auth.Admin)}
	in := locating.FindIn{}
	pages := templates.NavOf(you, s.Deps.Changes.Actions != nil, s.Deps.Past.History != nil)
	if s.Deps.Place.Clusters != nil && s.Deps.Place.Name == "" {
		pages = templates.NavOfServer(you)
	}
	for _, e := range pages {
		for _, p := range e.Pages {
			in.Pages = append(in.Pages, api.FoundItem{Kind: "page", Name: p.Name, URL: api.Address(p.URL)})
		}
	}
	for _, c := range s.Visible(who) {
		if c.Name != s.Deps.Place.Name {
			in.Pages = append(in.Pages, api.FoundItem{Kind: "cluster", Name: c.Title, URL: api.Address(c.Base() + "/")})
		}
	}
	if s.Deps.Changes.Actions != nil {
		if you.MayOperate {
			in.Changes = actions.Kinds()
		}
		in.Plans = func() []actions.Plan {
			plans, err := s.Deps.Changes.Actions.UnrunPlans(r.Context(), recentPlans)
			if err != nil {
				return nil // as runs are
			}
			return plans
		}
		in.Runs = func() []api.Run {
			// Runs that cannot be read are left out: the page of runs says why.
			runs, err := changing.Runs(r.Context(), v, s.Deps.Changes.Actions, changing.RunsQuery{}, recentRuns)
			if err != nil {
				return nil
			}
			return runs.Items
		}
	}
	return locating.FindByName(v, q, in), nil
}
