package clustermap

import (
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
		OfPage: []site.Param{site.Query("by", "what the height of a mark shows: shard, size, heat or age"),
			site.Query("ns", "one collection"), site.Query("from", "begin of the part that is shown, 0 to 1"),
			site.Query("to", "its end")},
	},
	site.Asked(site.Route{Pattern: "/map/{ns}/tile", Summary: "A part of a collection's band", Tagged: true, State: tileState,
		Params: []site.Param{site.ParamNS, site.Number("level", "0 to 20: the chunks are cut into 2^level tiles"),
			site.Number("index", "tile, from 0"), site.Number("marks", "16 to 2000: the most marks; default 512")},
		Time: site.Past, Writes: true}, tile),
	site.Asked(site.Route{Pattern: "/map/{ns}/chunk", Summary: "One chunk of a band", Tagged: true, State: tileState,
		Params: []site.Param{site.ParamNS, site.Number("position", "the chunk's number in key order, from 0; default 0")},
		Time:   site.Past, Writes: true}, chunk),
)
