package zones

import (
	"context"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// Routes of zones.
var Routes = site.Table(
	site.Question[api.List[api.Zone]]{
		Route: site.Route{Pattern: "/zones", Summary: "Zones, their ranges and shards", Tagged: true, Time: site.Past,
			Topic: site.Topic{Kind: "zones", Draw: func(_ context.Context, _ *site.Site, v answer.View, _ string) (templ.Component, error) {
				return Region(v), nil
			}}},
		Page: Page, Ask: list, OfData: site.Paged(),
		OfPage: []site.Param{site.Query(paramEdit, "the row that is a form: a zone or a range, as its link has it")},
	},
)
