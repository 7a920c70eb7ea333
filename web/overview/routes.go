package overview

import (
	"context"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/web/site"
)

// Routes of the cluster as a whole.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/", Summary: "Is the cluster balanced, what is wrong?", Handler: Page, Tagged: true,
		Time: site.Past, Internal: true,
		Params: []site.Param{site.Query(answer.ShardsParam, "all: every shard; of more than 36 only the fullest are listed")},
		Topic: site.Topic{Kind: "overview", Draw: func(_ context.Context, _ *site.Site, v answer.View, _ string) (templ.Component, error) {
			return Region(v), nil
		}},
		Topics: []site.Topic{{Kind: "headline", Draw: func(_ context.Context, s *site.Site, v answer.View, _ string) (templ.Component, error) {
			return Headline(s, v), nil
		}}}}),
	site.Asked(site.Route{Pattern: "/cluster", Summary: "The cluster in one object", Tagged: true, Time: site.Past}, cluster),
	site.Asked(site.Route{Pattern: "/shards", Summary: "Shards", Params: site.Paged(), Tagged: true, Time: site.Past}, shards),
)
