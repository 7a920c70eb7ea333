package lab

import (
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// growthRoutes are those of the growth planner.
var growthRoutes = []site.Routed{
	site.Question[api.LabGrowth]{
		Route: site.Route{Pattern: "/lab/growth", Summary: "What happens when shards are added or emptied and data grows?",
			Time: site.NowOnly, Params: site.Takes[trying.GrowthQuery]()},
		Page: growthPage, Ask: growthAnswer, For: "What moves, how long that takes and how full each shard gets; a prediction",
	},
}
