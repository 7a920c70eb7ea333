package shards

import (
	"context"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/web/site"
)

var paramShard = site.InPath("name", "a shard's name, path-escaped once")

// Routes of one shard.
var Routes = []site.Route{
	site.Page(site.Route{Pattern: "/shards/{name}", Summary: "What is on a shard?", Params: []site.Param{paramShard}, Handler: PageOrCSV,
		Types:  []string{site.MediaHTML, site.MediaCSV}, // the latter of a name that ends in .csv
		Tagged: true, Time: site.Past, Internal: true,
		Topic: site.Topic{Kind: "shard", Of: site.Named,
			Draw: func(_ context.Context, s *site.Site, v answer.View, name string) (templ.Component, error) {
				return Region(v, s.Deps.Profile, name)
			}}}),
	site.Page(site.Route{Pattern: "/shards/{name}.csv", Summary: "What is on a shard, as CSV", Params: []site.Param{paramShard},
		Handler: CSV,
		Types:   []string{site.MediaCSV}, Tagged: true, Time: site.Past}),
	site.Get(site.Route{Pattern: "/shards/{name}", Summary: "One shard and what is on it", Params: []site.Param{paramShard},
		Answer: api.ShardDetail{}, Handler: JSON,
		Types: []string{site.MediaJSON, site.MediaCSV}, Tagged: true, Time: site.Past}),
}
