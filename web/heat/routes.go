package heat

import (
	"net/http"
	"shardboard/internal/answer"

	"shardboard/internal/api"
	"shardboard/web/site"
)

var (
	paramCollection = site.Query("ns", "database.collection; default the first whose new rows are counted")
	paramWindow     = site.Query("window", "a Go duration from 10s to 24h; default 5m")

	paramsList = site.Paged(paramWindow,
		site.Query("ns", "one collection; without it the sum of those whose new rows are counted, or their chunks"))
)

// Routes of where writes go.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/heat", Summary: "Where is it hot?", Handler: Page, Time: site.NowOnly, Internal: true, Writes: true,
		Params: []site.Param{paramCollection, paramWindow, site.Last,
			site.Query("span", "as last, as earlier versions wrote it: 1h, 6h, 24h, 168h or 840h"),
			site.Query("by", "key or project"),
			site.Query("rows", "keys of the rows to describe, with from and to: the first and the last by key, all by project"),
			site.Query("from", "RFC 3339 or milliseconds since 1970: begin of what is described"), site.Query("to", "its end"),
			site.Query(answer.ShardsParam, "all: every shard; of more than 36 only the hottest are listed")}}),
	site.Get(site.Route{Pattern: "/heat/map", Summary: "Where did the writes go, over time?", Handler: MapJSON, Time: site.NowOnly,
		Params: []site.Param{paramCollection, site.Query("from", "RFC 3339 time, or how long before to, as -24h; default six hours before to"),
			site.Query("to", "RFC 3339 time; default now"),
			site.Query("by", "key (default) or project"), site.Query("shard", "only rows that this shard owns now; by=key alone")},
		Status: []int{http.StatusOK, http.StatusNotModified}, Answer: api.HeatMap{}}),
	site.Asked(site.Route{Pattern: "/heat/range", Summary: "Who writes to a range of keys?", Time: site.NowOnly,
		Params: []site.Param{paramCollection, site.Query("min", "begin of the range in Extended JSON; hashed fields are hashes"),
			site.Query("max", "its end, which is not part of it"), paramWindow}}, keyRange),
	hotList("projects", "Which projects are written to most?", hotProjects),
	hotList("project-shards", "On which shards are the writes of projects?", hotProjectShards),
	hotList("documents", "Which Yorkie documents are written to most?", hotDocuments),
	hotList("chunks", "Which chunks take the writes?", hotChunks),
	site.Question[api.List[api.HeatOperations]]{
		Route: site.Route{Pattern: "/heat/operations", Summary: "How many reads and writes does each shard have, and how long do they take?",
			Time: site.NowOnly, Params: []site.Param{site.Query("shard", "of this shard"), site.Query("ns", "of this collection")}},
		Ask: operations, OfData: site.Paged(),
	},
	hotList("shards", "Which shards take the writes?", hotShards),
)

// hotList is a list of what is hot, hottest first.
func hotList(of, summary string, list func(*site.Site, *http.Request) (api.HeatList, error)) site.Question[api.HeatList] {
	return site.Asked(site.Route{Pattern: "/heat/" + of, Summary: summary, Params: paramsList, Time: site.NowOnly}, list)
}
