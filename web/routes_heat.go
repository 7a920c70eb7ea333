package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/web/guard"
	heatroom "shardboard/web/heat"
	"shardboard/web/site"
)

// heatRoutes are those of where writes go.
func heatRoutes() []site.Route {
	heat := func(path, summary string, h func(*site.Site, http.ResponseWriter, *http.Request) error) site.Route {
		return site.Route{Method: "GET", Pattern: api.Prefix + "/heat/" + path, Policy: guard.PolicyRead, Tag: "api", Summary: summary,
			Params: []site.Param{site.Query("window", "a Go duration from 10s to 24h; default 5m"), site.Query("ns", "one collection; without it the sum of those whose new rows are counted, or their chunks"), site.Number("limit", "1 to 1000, default 100")},
			Answer: api.HeatList{}, Handler: h}
	}
	ns := site.Query("ns", "database.collection; default the first whose new rows are counted")
	heatPage := site.Fresh(site.Page("/heat", "Where is it hot?"))
	heatPage.Handler = heatroom.Page
	heatPage.Params = []site.Param{ns, site.Query("window", "a Go duration from 10s to 24h; default 5m"), site.Query("span", "how far back the picture goes: 1h, 6h, 24h, 168h or 840h"), site.Query("by", "key or project")}
	return []site.Route{
		heatPage,
		{Method: "GET", Pattern: api.Prefix + "/heat/map", Policy: guard.PolicyRead, Tag: "api", Summary: "Where did the writes go, over time?",
			Params: []site.Param{ns, site.Query("from", "RFC 3339 time, or how long before to, as -24h; default six hours before to"), site.Query("to", "RFC 3339 time; default now"),
				site.Query("by", "key (default) or project"), site.Query("shard", "only rows that this shard owns now; by=key alone")},
			Status: []int{http.StatusOK, http.StatusNotModified}, Answer: api.HeatMap{}, Handler: heatroom.MapJSON},
		{Method: "GET", Pattern: api.Prefix + "/heat/range", Policy: guard.PolicyRead, Tag: "api", Summary: "Who writes to a range of keys?",
			Params: []site.Param{ns, site.Query("min", "begin of the range in Extended JSON; hashed fields are hashes"), site.Query("max", "its end, which is not part of it"),
				site.Query("window", "a Go duration from 10s to 24h; default 5m")},
			Answer: api.HeatRange{}, Handler: heatroom.RangeJSON},
		heat("projects", "Which projects are written to most?", heatroom.ProjectsJSON),
		heat("documents", "Which Yorkie documents are written to most?", heatroom.DocumentsJSON),
		heat("chunks", "Which chunks take the writes?", heatroom.ChunksJSON),
		heat("shards", "Which shards take the writes?", heatroom.ShardsJSON),
	}
}
