package clustermap

import (
	"shardboard/internal/answer/mapped"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// Routes of the map of all collections.
var Routes = site.Table(
	site.Question[api.ClusterMap]{
		Route: site.Route{Pattern: "/map", Summary: "Where is everything, and what moves?", Tagged: true, State: mapState,
			Time: site.Past, Internal: true, Writes: true, Topic: site.Topic{Kind: "map", Draw: draw(live)},
			Topics: []site.Topic{{Kind: "maptable", Draw: draw(table)}}},
		Page: Page, Ask: bands, For: "The map of all collections: a band for each",
		OfPage: site.Takes[mapped.MapQuery](),
	},
	site.Asked(site.Route{Pattern: "/map/{ns}/tile", Summary: "A part of a collection's band", Tagged: true, State: tileState,
		Params: append(site.Takes[mapped.MapTileQuery](), site.ParamNS),
		Time:   site.Past, Writes: true}, tile),
	site.Asked(site.Route{Pattern: "/map/{ns}/chunk", Summary: "One chunk of a band", Tagged: true, State: tileState,
		Params: append(site.Described(new(mapped.MapChunkQuery).Parameters(nil)), site.ParamNS),
		Time:   site.Past, Writes: true}, chunk),
)
