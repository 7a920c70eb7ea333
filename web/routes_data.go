package web

import "shardboard/internal/api"

// dataRoutes are those of the data directory. Whoever takes it over decides which
// process carries out runs, so only an admin may.
func dataRoutes() []Route {
	return []Route{
		form("/data/takeover", PolicyAdmin, "Own the data directory after its owner has ended", (*Site).postTakeOver, mediaHTML),
		{Method: "GET", Pattern: api.Prefix + "/data", Policy: PolicyRead, Tag: tagAPI, Summary: "Whether this server can store anything, and why not",
			Answer: api.DataDirectory{}, handler: (*Site).apiData},
		{Method: "POST", Pattern: api.Prefix + "/data/takeover", Policy: PolicyAdmin, Tag: tagAPI, Summary: "Own the data directory after its owner has ended",
			Answer: api.DataDirectory{}, handler: (*Site).apiTakeOver},
	}
}
