package web

import (
	"net/http"
	"slices"

	"shardboard/internal/api"
	"shardboard/web/activity"
	"shardboard/web/collections"
	"shardboard/web/guard"
	"shardboard/web/locate"
	"shardboard/web/overview"
	"shardboard/web/projects"
	"shardboard/web/shards"
	"shardboard/web/site"
	"shardboard/web/zones"
)

var (
	paramNS    = site.InPath("ns", "database.collection, path-escaped once")
	paramShard = site.InPath("name", "a shard's name, path-escaped once")
	paramRef   = site.InPath("ref", "a chunk's reference as the list of chunks gives it, or its part after the dot")
	paramID    = site.InPath("id", "a project's id, 24 hexadecimal digits")
)

// paramsAsk are what a locate answer can hold beyond the places.
var paramsAsk = []site.Param{
	site.Query("why", "1 adds to each place the chain from value to machines, and a sentence for a ticket"),
	site.Query("prove", "1 compares each place with the mongos's explain; at most 24"),
	site.Query("counts", "1 counts the rows of each place by one query of at most 2 s"),
}

// routes is the whole route table, of a server on which everything is on.
func routes() []site.Route {
	return site.WithTime(slices.Concat(pageRoutes(), apiRoutes(), signInRoutes(), accountRoutes(), auditRoutes(), actionRoutes(), heatRoutes(), surveyRoutes(), historyRoutes(), adviceRoutes(), dataRoutes(), operationRoutes()))
}

func pageRoutes() []site.Route {
	with := func(r site.Route, h func(*site.Site, http.ResponseWriter, *http.Request) error, params ...site.Param) site.Route {
		r.Handler, r.Params = h, params
		return r
	}
	shard := site.Page("/shards/{name}", "What is on a shard?")
	shard.Types = append(shard.Types, site.MediaCSV) // of a name that ends in .csv
	csv := site.Page("/shards/{name}.csv", "What is on a shard, as CSV")
	csv.Types = []string{site.MediaCSV}
	collectionsCSV := site.Page("/collections.csv", "Collections by shard, as CSV")
	collectionsCSV.Types = []string{site.MediaCSV}
	locateOne := site.Page("/locate", "Where is it?")
	locateOne.Tagged, locateOne.Policy = false, guard.PolicyLocate // asks the cluster
	bulk := site.Fresh(site.Page("/locate/bulk", "Locate many lines"))
	bulk.Policy = guard.PolicyLocate
	measure := site.Form("/collections/{ns}/chunks/{ref}/size", guard.PolicyOperate, "Measure one chunk; reads only", collections.PostChunkSize, site.MediaHTML)
	measure.Params = []site.Param{paramNS, paramRef}
	return []site.Route{
		with(site.Page("/", "Is the cluster balanced, what is wrong?"), overview.Page),
		with(shard, shards.PageOrCSV, paramShard),
		with(csv, shards.CSV, paramShard),
		with(site.Page("/collections", "Collections by shard"), collections.Page),
		with(collectionsCSV, collections.CSV, site.Query("db", "one database only")),
		with(site.Page("/collections/{ns}", "How is one collection's key space cut?"), collections.CollectionPage, paramNS),
		measure,
		with(site.Page("/collections/{ns}/chunks/{ref}", "Why is one chunk there, and why does it not move?"), locate.ChunkPage, paramNS, paramRef),
		with(site.Page("/projects", "Projects and their spread"), projects.ListPage, site.Query("q", "name, id or public key")),
		with(site.Fresh(site.Page("/projects/{id}", "Where is one project?")), projects.Page, paramID),
		with(locateOne, locate.Page, site.Query("q", "project/key, project or id"), site.Query("ns", "namespace"), site.Query("key", "shard key in Extended JSON"), paramsAsk[1], paramsAsk[2]),
		with(site.Page("/layout", "Is it sharded as its schema means it to be?"), collections.LayoutPage,
			site.Query("db", "one database only"), site.Query("layout", "compare with this layout")),
		with(bulk, locate.LinesPage),
		site.Answering(site.Form("/locate/bulk", guard.PolicyLocate, "Locate up to 1,000 lines, as a page or as CSV", locate.LinesForm, site.MediaHTML, site.MediaCSV), http.StatusOK),
		with(site.Fresh(site.Page("/checks/duplicates", "Ids on more than one shard")), locate.DuplicatesPage),
		site.Form("/checks/duplicates", guard.PolicyOperate, "Start, resume or stop that check; reads only", locate.DuplicatesForm, site.MediaHTML),
		with(site.Page("/zones", "Zones, their ranges and shards"), zones.Page),
		with(site.Page("/activity", "What the cluster did"), activity.Page),
	}
}

func apiRoutes() []site.Route {
	get := func(path, summary string, answer any, h func(*site.Site, http.ResponseWriter, *http.Request) error, params ...site.Param) site.Route {
		return site.Route{Method: "GET", Pattern: api.Prefix + path, Policy: guard.PolicyRead, Tag: site.TagAPI, Summary: summary,
			Params: params, Answer: answer, Tagged: true, Handler: h}
	}
	shard := get("/shards/{name}", "One shard and what is on it", api.ShardDetail{}, shards.JSON, paramShard)
	shard.Types = []string{site.MediaJSON, site.MediaCSV}
	list := get("/collections", "Collections by shard; as CSV all of them", api.List[api.Collection]{}, collections.JSON, site.Paged(site.Query("db", "one database only"))...)
	list.Types = shard.Types
	locateOne := get("/locate", "Which shard holds it?", api.LocateAnswer{}, locate.JSON,
		site.Query("q", "project/key, project, id, log reference, dashboard address or UUID; with ns a value of its shard key"), site.Query("ns", "namespace, with key"), site.Query("key", "shard key in Extended JSON, with ns"))
	locateOne.Tagged, locateOne.Policy, locateOne.Types = false, guard.PolicyLocate, []string{site.MediaJSON, site.MediaCSV}
	locateMany := site.Route{Method: "POST", Pattern: api.Prefix + "/locate", Policy: guard.PolicyLocate, Tag: site.TagAPI, Summary: "Locate up to 1,000 lines",
		Body: api.LocateRequest{}, Takes: []string{site.MediaText}, Answer: api.List[api.LocateLine]{}, Types: []string{site.MediaJSON, site.MediaCSV}, Handler: locate.LinesJSON}
	duplicates := get("/checks/duplicates", "The check for ids on more than one shard", api.DuplicateCheck{}, locate.DuplicatesJSON)
	duplicates.Tagged = false // its progress is no part of the table
	post := func(path, summary string, body, answer any, h func(*site.Site, http.ResponseWriter, *http.Request) error) site.Route {
		return site.Route{Method: "POST", Pattern: api.Prefix + path, Policy: guard.PolicyOperate, Tag: site.TagAPI, Summary: summary, Body: body, Answer: answer, Handler: h}
	}
	locateOne.Params = append(locateOne.Params, paramsAsk...)
	size := get("/collections/{ns}/chunks/{ref}/size", "Documents and bytes of one chunk, and whether its shard would move it", api.ChunkSize{}, collections.ChunkSizeJSON,
		paramNS, paramRef)
	size.Tagged = false // what is measured is no part of the table
	measure := post("/collections/{ns}/chunks/{ref}/size", "Measure one chunk with dataSize, for at most 10 s; reads only", api.ChunkMeasure{}, api.ChunkSize{}, collections.MeasureJSON)
	measure.Params, measure.BodyOptional = []site.Param{paramNS, paramRef}, true
	return []site.Route{
		get("/cluster", "The cluster in one object", api.Cluster{}, overview.ClusterJSON),
		get("/shards", "Shards", api.List[api.Shard]{}, overview.ShardsJSON, site.Paged()...),
		shard,
		list,
		get("/collections/{ns}", "One collection", api.CollectionDetail{}, collections.CollectionJSON, paramNS),
		get("/collections/{ns}/chunks", "Chunks of a collection, in key order or by size or writes", api.ChunkList{}, collections.ChunksJSON,
			site.Paged(paramNS, site.Query("shard", "on this shard"), site.Query("jumbo", "true or false"), site.Query("zone", "covered by this zone"),
				site.Query("oversized", "true or false: has more documents than its shard moves at once, as far as is known"),
				site.Query("sort", "bytes, documents or heat, largest first; measured chunks by what was measured, others by the estimate of their shard"),
				site.Query("from", "begin with the chunk of this bound"), site.Query("key", "only the chunk that holds this key"))...),
		get("/collections/{ns}/chunks/{ref}/why", "Why one chunk is where it is, and what the balancer makes of it", api.ChunkWhy{}, locate.ChunkJSON,
			paramNS, paramRef),
		size,
		measure,
		get("/collections/{ns}/map", "A tile of the chunk map", api.Tile{}, collections.MapJSON,
			paramNS, site.Number("level", "0 to 20: the chunks are cut into 2^level tiles"), site.Number("index", "tile, from 0")),
		get("/projects", "Projects with their spread", api.List[api.Project]{}, projects.ListJSON, site.Paged(site.Query("q", "name, id or public key"))...),
		get("/projects/{id}", "One project, collection by collection", api.ProjectDetail{}, projects.JSON,
			paramID, site.Query("db", "of this database, where several have the id")),
		get("/projects/{id}/why", "Why a project's own chunks are where they are", api.ProjectWhy{}, locate.ProjectJSON, paramID),
		locateOne,
		locateMany,
		duplicates,
		post("/checks/duplicates", "Look for ids on more than one shard; reads only", api.DuplicateStart{}, api.DuplicateCheck{}, locate.StartDuplicatesJSON),
		post("/checks/duplicates/stop", "Stop looking; it can be resumed", nil, api.DuplicateCheck{}, locate.StopDuplicatesJSON),
		get("/layout", "Shard keys beside those of the nearest layout", api.List[api.Layout]{}, collections.LayoutJSON,
			site.Query("db", "one database only"), site.Query("layout", "compare with this layout, not the nearest")),
		get("/zones", "Zones, their shards and ranges", api.List[api.Zone]{}, zones.JSON, site.Paged()...),
		get("/activity", "The changelog, newest first", api.FoldedList[api.Event]{}, activity.EventsJSON,
			site.Paged(site.Query("ns", "of this namespace"), site.Query("what", "this kind of entry, or a prefix that ends in a dot"), site.InternalQuery())...),
		{Method: "GET", Pattern: "/api/openapi.json", Policy: guard.PolicyOpen, Tag: site.TagOperations, Summary: "This description",
			Answer: map[string]any{}, Handler: (*site.Site).ServeOpenAPI},
	}
}

func operationRoutes() []site.Route {
	static := func(pattern, summary string) site.Route {
		return site.Route{Method: "GET", Pattern: pattern, Policy: guard.PolicyOpen, Tag: site.TagOperations, Summary: summary, Stream: true,
			Params: []site.Param{site.InPath("file", "name with hash")}, Types: []string{"text/css", "text/javascript", "image/svg+xml"}, Handler: (*site.Site).ServeStatic}
	}
	return []site.Route{
		{Method: "GET", Pattern: "/live", Policy: guard.PolicyRead, Tag: site.TagOperations, Summary: "Live updates (WebSocket)",
			Params: []site.Param{site.Query("t", "topics, comma-separated, each with the version that the browser has: overview@12,zones")},
			Types:  []string{site.MediaJSON}, Stream: true, Handler: (*site.Site).Live},
		{Method: "GET", Pattern: "/healthz", Policy: guard.PolicyOpen, Tag: site.TagOperations, Summary: "Is it serving?",
			Types: []string{site.MediaText}, Handler: (*site.Site).Healthz},
		{Method: "GET", Pattern: "/readyz", Policy: guard.PolicyOpen, Tag: site.TagOperations, Summary: "Are table and projects loaded, and can everything be stored?",
			Status: []int{http.StatusOK, http.StatusServiceUnavailable}, Answer: api.Ready{}, Handler: (*site.Site).Readyz},
		{Method: "GET", Pattern: "/metrics", Policy: guard.PolicyNear, Tag: site.TagOperations, Summary: "Prometheus metrics",
			Types: []string{site.MediaText}, Handler: (*site.Site).ServeMetrics},
		static("/static/{file}", "Own style sheet and icon, by content hash"),
		static("/static/js/{file}", "Own scripts, by content hash"),
	}
}
