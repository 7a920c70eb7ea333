package shards

import (
	"context"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/shares"
	"shardboard/internal/api"
	"shardboard/web/site"
)

var paramShard = site.InPath("name", "a shard's name, path-escaped once")

// Routes of shards.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/shards", Summary: "What has each shard?", Handler: ListPage, Tagged: true, Time: site.Past,
		Topic: site.Topic{Kind: "shards", Draw: func(_ context.Context, _ *site.Site, v answer.View, _ string) (templ.Component, error) {
			return listRegion(v), nil
		}}}),
	site.Asked(site.Route{Pattern: "/shards", Summary: "Shards", Params: site.Paged(), Tagged: true, Time: site.Past}, list),
	site.Page(site.Route{Pattern: "/shards/{name}", Summary: "What is on a shard?",
		Params:  []site.Param{paramShard, site.ParamFormat(), site.Number("page", "of the collections on it, 50 each, counted from 1")},
		Handler: site.InFormat(Page, JSON, CSV), Types: []string{site.MediaHTML, site.MediaJSON, site.MediaCSV},
		Tagged: true, Time: site.Past, Internal: true, Writes: true,
		Topic: site.Topic{Kind: "shard", Of: site.Named,
			Draw: func(_ context.Context, s *site.Site, v answer.View, name string) (templ.Component, error) {
				return Region(s, v, name, 1)
			}}}),
	site.Get(site.Route{Pattern: "/shards/{name}", Summary: "One shard and what is on it",
		Params: append(site.Takes[shardQuery](), paramShard, site.ParamFormat()),
		Answer: api.ShardDetail{}, Handler: site.InFormat(JSON, JSON, CSV),
		Types: []string{site.MediaJSON, site.MediaCSV}, Tagged: true, Time: site.Past, Writes: true}),
	// Writes are no part of the table, so it has no ETag.
	site.Question[api.ShardWhy]{
		Route: site.Route{Pattern: "/shards/{name}/why", Summary: "Why has a shard more or less than its even share?",
			Params: append(site.Takes[shares.ShardWhyQuery](), paramShard), Time: site.Past, Writes: true},
		Page: WhyPage, Ask: why, For: "From the even share of a shard to what is on it, part by part",
	},
)
