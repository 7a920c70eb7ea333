package clustermap

import (
	"shardboard/web/site"
)

// Routes of the map of all collections.
var Routes = site.Table(
	site.Asked(site.Route{Pattern: "/map", Summary: "The map of all collections: a band for each", Tagged: true, State: mapState,
		Time: site.Past, Internal: true}, bands),
	site.Asked(site.Route{Pattern: "/map/{ns}/tile", Summary: "A part of a collection's band", Tagged: true, State: tileState,
		Params: []site.Param{site.ParamNS, site.Number("level", "0 to 20: the chunks are cut into 2^level tiles"),
			site.Number("index", "tile, from 0"), site.Number("marks", "16 to 2000: the most marks; default 512")},
		Time: site.Past}, tile),
	site.Asked(site.Route{Pattern: "/map/{ns}/chunk", Summary: "One chunk of a band", Tagged: true, State: tileState,
		Params: []site.Param{site.ParamNS, site.Number("position", "the chunk's number in key order, from 0; default 0")},
		Time:   site.Past}, chunk),
)
