package web

import (
	"net/http"

	"shardboard/internal/api"
)

// heatRoutes are those of where writes go.
func heatRoutes() []Route {
	heat := func(path, summary string, h func(*Site, http.ResponseWriter, *http.Request) error) Route {
		return Route{Method: "GET", Pattern: api.Prefix + "/heat/" + path, Policy: PolicyRead, Tag: "api", Summary: summary,
			Params: []Param{query("window", "a Go duration from 10s to 24h; default 5m"), query("ns", "one collection; without it the sum of those whose new rows are counted, or their chunks"), number("limit", "1 to 1000, default 100")},
			Answer: api.HeatList{}, handler: h}
	}
	ns := query("ns", "database.collection; default the first whose new rows are counted")
	heatPage := fresh(page("/heat", "Where is it hot?"))
	heatPage.handler = (*Site).pageHeat
	heatPage.Params = []Param{ns, query("window", "a Go duration from 10s to 24h; default 5m"), query("span", "how far back the picture goes: 1h, 6h, 24h, 168h or 840h"), query("by", "key or project")}
	return []Route{
		heatPage,
		{Method: "GET", Pattern: api.Prefix + "/heat/map", Policy: PolicyRead, Tag: "api", Summary: "Where did the writes go, over time?",
			Params: []Param{ns, query("from", "RFC 3339 time, or how long before to, as -24h; default six hours before to"), query("to", "RFC 3339 time; default now"),
				query("by", "key (default) or project"), query("shard", "only rows that this shard owns now; by=key alone")},
			Status: []int{http.StatusOK, http.StatusNotModified}, Answer: api.HeatMap{}, handler: (*Site).apiHeatMap},
		{Method: "GET", Pattern: api.Prefix + "/heat/range", Policy: PolicyRead, Tag: "api", Summary: "Who writes to a range of keys?",
			Params: []Param{ns, query("min", "begin of the range in Extended JSON; hashed fields are hashes"), query("max", "its end, which is not part of it"),
				query("window", "a Go duration from 10s to 24h; default 5m")},
			Answer: api.HeatRange{}, handler: (*Site).apiHeatRange},
		heat("projects", "Which projects are written to most?", (*Site).apiHeatProjects),
		heat("documents", "Which Yorkie documents are written to most?", (*Site).apiHeatDocuments),
		heat("chunks", "Which chunks take the writes?", (*Site).apiHeatChunks),
		heat("shards", "Which shards take the writes?", (*Site).apiHeatShards),
	}
}
