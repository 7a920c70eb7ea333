package overview

import (
	"context"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// Routes of the cluster as a whole.
var Routes = []site.Route{
	site.Page(site.Route{Pattern: "/", Summary: "Is the cluster balanced, what is wrong?", Handler: Page, Tagged: true,
		Time: site.Past, Internal: true,
		Topic: site.Topic{Kind: "overview", Draw: func(_ context.Context, _ *site.Site, v answer.View, _ string) (templ.Component, error) {
			return Region(v), nil
		}}}),
	site.Get(site.Route{Pattern: "/cluster", Summary: "The cluster in one object", Answer: api.Cluster{}, Handler: ClusterJSON, Tagged: true,
		Time: site.Past}),
	site.Get(site.Route{Pattern: "/shards", Summary: "Shards", Params: site.Paged(), Answer: api.List[api.Shard]{}, Handler: ShardsJSON,
		Tagged: true, Time: site.Past}),
}
