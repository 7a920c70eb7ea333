package overview

import (
	"context"
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// Routes of the cluster as a whole.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/", Summary: "Is the cluster balanced, what is wrong?", Handler: Page, Tagged: true,
		Time: site.Past, Internal: true, Status: []int{http.StatusOK, http.StatusSeeOther},
		Params: []site.Param{site.Query(answer.ShardsParam, "all: leads to the page of all shards")},
		Topic: site.Topic{Kind: "overview", Draw: func(_ context.Context, _ *site.Site, v answer.View, _ string) (templ.Component, error) {
			return Region(v), nil
		}},
		Topics: []site.Topic{{Kind: "headline", Draw: func(_ context.Context, s *site.Site, v answer.View, _ string) (templ.Component, error) {
			return Headline(s, v), nil
		}}}}),
	site.Page(site.Route{Pattern: "/profile.yaml",
		Summary: "The profile that is proposed for data that fits none, as the file that --profile reads",
		Types:   []string{site.MediaText}, Handler: ProfileFile}),
	site.Asked(site.Route{Pattern: "/profile", Summary: "The profile in use, and the one that is proposed for data that fits none",
		Time: site.NowOnly}, profileNow),
	site.Change[api.ProfileKeep, api.Profile]{
		Route: site.Route{Pattern: "/profile/keep", Summary: "Use the proposed profile from now on", Policy: guard.PolicyAdmin},
		Do:    keep, Leads: toOverview,
	},
	site.Change[struct{}, api.Profile]{
		Route: site.Route{Pattern: "/profile/drop", Summary: "Use the built-in profile again", Policy: guard.PolicyAdmin},
		Do:    drop, Leads: toOverview,
	},
	site.Asked(site.Route{Pattern: "/cluster", Summary: "The cluster in one object", Tagged: true, Time: site.Past}, cluster),
)
