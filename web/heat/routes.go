package heat

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"

	"shardboard/internal/api"
	"shardboard/web/site"
)

// Routes of where writes go.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/heat", Summary: "Where is it hot?", Handler: Page, Time: site.NowOnly, Internal: true, Writes: true,
		Params: append(site.Takes[writes.HeatQuery](),
			site.Query(answer.ShardsParam, "all: every shard; of more than 36 only the hottest are listed"))}),
	site.Get(site.Route{Pattern: "/heat/map", Summary: "Where did the writes go, over time?", Handler: MapJSON, Time: site.NowOnly,
		Params: site.Described(new(writes.HeatMapQuery).Parameters(answer.View{}, writes.HeatSource{})),
		Status: []int{http.StatusOK, http.StatusNotModified}, Answer: api.HeatMap{}}),
	site.Asked(site.Route{Pattern: "/heat/range", Summary: "Who writes to a range of keys?", Time: site.NowOnly,
		Params: site.Takes[writes.RangeQuery]()}, keyRange),
	hotList("projects", "Which projects are written to most?", writes.HotProjects),
	hotList("project-shards", "On which shards are the writes of projects?", writes.HotProjectShards),
	hotList("documents", "Which Yorkie documents are written to most?", writes.HotDocuments),
	hotList("chunks", "Which chunks take the writes?", writes.HotChunks),
	site.Question[api.List[api.HeatOperations]]{
		Route: site.Route{Pattern: "/heat/operations", Summary: "How many reads and writes does each shard have, and how long do they take?",
			Time: site.NowOnly, Params: site.Takes[writes.OperationsQuery]()},
		Ask: operations, OfData: site.Paged(),
	},
	hotList("shards", "Which shards take the writes?", writes.HotShards),
)

// hotList is a list of what is hot, hottest first.
func hotList(of, summary string, kind writes.HeatKind) site.Question[api.HeatList] {
	return site.Asked(site.Route{Pattern: "/heat/" + of, Summary: summary, Params: site.Takes[writes.HeatListQuery](), Time: site.NowOnly},
		func(s *site.Site, r *http.Request) (api.HeatList, error) { return hottest(s, r, kind) })
}
