package web

import (
	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// dataRoutes are those of the data directory. Whoever takes it over decides which
// process carries out runs, so only an admin may.
func dataRoutes() []site.Route {
	return []site.Route{
		site.Form("/data/takeover", guard.PolicyAdmin, "Own the data directory after its owner has ended", (*site.Site).PostTakeOver, site.MediaHTML),
		{Method: "GET", Pattern: api.Prefix + "/data", Policy: guard.PolicyRead, Tag: site.TagAPI, Summary: "Whether this server can store anything, and why not",
			Answer: api.DataDirectory{}, Handler: (*site.Site).ApiData},
		{Method: "POST", Pattern: api.Prefix + "/data/takeover", Policy: guard.PolicyAdmin, Tag: site.TagAPI, Summary: "Own the data directory after its owner has ended",
			Answer: api.DataDirectory{}, Handler: (*site.Site).ApiTakeOver},
	}
}
