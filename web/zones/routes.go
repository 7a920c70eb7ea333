package zones

import (
	"context"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// Routes of zones.
var Routes = []site.Route{
	site.Page(site.Route{Pattern: "/zones", Summary: "Zones, their ranges and shards", Handler: Page, Tagged: true, Time: site.Past,
		Topic: site.Topic{Kind: "zones", Draw: func(_ context.Context, _ *site.Site, v answer.View, _ string) (templ.Component, error) {
			return Region(v), nil
		}}}),
	site.Get(site.Route{Pattern: "/zones", Summary: "Zones, their shards and ranges", Params: site.Paged(), Answer: api.List[api.Zone]{},
		Handler: JSON, Tagged: true, Time: site.Past}),
}
