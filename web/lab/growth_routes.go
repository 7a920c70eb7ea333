package lab

import (
	"shardboard/internal/api"
	"shardboard/web/site"
)

// ofGrowth are what a prediction follows from.
var ofGrowth = []site.Param{
	site.Query("add", "how many shards join, 0 to 256; default 1"),
	site.Query("empty", "a shard that is emptied"),
	site.Query("growth", "by how much all data grows after the moves, as a multiple of today’s, 0 to 1000; default 0"),
	site.Query("project", "id of a project that grows by itself, 24 hexadecimal digits"),
	site.Query("factor", "how large that project gets, as a multiple of today, 1 to 1000; default 2"),
	site.Query("group", "moves in a group, 1 to 1000; default 10"),
	site.Query("perShard", "moves at a time in which a shard takes part, 1 to 16; default 1"),
	site.Query("rate", "bytes a second of one move, such as 20MB; default that of past moves"),
	site.Query("pause", "a Go duration from 0s to 168h between groups; default 0s"),
	site.Query("fill", "percent of its capacity that a shard may fill, 1 to 100; default 80"),
	site.Query("capacity", "bytes of documents that each shard of today can hold, such as 500GB; default by its free disk"),
	site.Query("newCapacity", "the same of each added shard; default that of the smallest shard"),
	site.Query("measure", "what is made even: release (default; as the balancer of the release has it), bytes or chunks"),
}

// growthRoutes are those of the growth planner.
var growthRoutes = []site.Routed{
	site.Question[api.LabGrowth]{
		Route: site.Route{Pattern: "/lab/growth", Summary: "What happens when shards are added or emptied and data grows?",
			Time: site.NowOnly, Params: ofGrowth},
		Page: growthPage, OfPage: []site.Param{site.Query("cursor", "where the list of moves begins"),
			site.Query("batch", "1: with the form that makes a batch of the moves")},
		Ask: growthAnswer, OfData: site.Paged(), For: "What moves, how long that takes and how full each shard gets; a prediction",
	},
}
