package web

import (
	"net/http"
	"slices"

	"shardboard/internal/api"
)

// Param is one parameter of a route, for the API description.
type Param struct {
	Name, In string // In is "path" or "query"
	Type     string // JSON type; "" is string
	Text     string
}

// Route is one line of the site: everything that is known of an address, in
// one place. The router, the API description and the tests are made from it.
type Route struct {
	Method  string // GET includes HEAD
	Pattern string // chi's form, which is OpenAPI's too
	Policy  Policy
	Tag     string // one of the tags below
	Summary string
	Params  []Param
	Body    any      // zero value of the request's JSON type; nil if none
	Takes   []string // media types of a body besides JSON
	Status  []int    // of answers when nothing is wrong, the usual one first; nil: what follows from the rest
	Answer  any      // zero value of the JSON answer's type; nil if it is not JSON
	Types   []string // media types of the answer, the default first; nil is JSON alone
	Tagged  bool     // has an ETag: a pure function of table, directory, pins and address
	Stream  bool     // writes to the connection itself: no buffer, no compression, no deadline
	handler func(*Site, http.ResponseWriter, *http.Request) error

	BodyOptional bool // the body may be left out
}

// Tags group the routes in the API's description.
const (
	tagPages      = "pages"
	tagAPI        = "api"
	tagOperations = "operations"
)

const (
	mediaHTML = "text/html"
	mediaCSV  = "text/csv"
	mediaJSON = "application/json"
	mediaText = "text/plain"
	mediaForm = "application/x-www-form-urlencoded"
)

func query(name, text string) Param  { return Param{Name: name, In: "query", Text: text} }
func inPath(name, text string) Param { return Param{Name: name, In: "path", Text: text} }
func number(name, text string) Param {
	return Param{Name: name, In: "query", Type: "integer", Text: text}
}
func page(pattern, summary string) Route {
	return Route{Method: "GET", Pattern: pattern, Policy: PolicyRead, Tag: tagPages, Summary: summary, Types: []string{mediaHTML}, Tagged: true}
}

// fresh is a page that is made of more than table and directory.
func fresh(r Route) Route {
	r.Tagged = false
	return r
}

// form takes a form of a page.
func form(pattern string, p Policy, summary string, h func(*Site, http.ResponseWriter, *http.Request) error, types ...string) Route {
	return Route{Method: "POST", Pattern: pattern, Policy: p, Tag: tagPages, Summary: summary, Types: types, handler: h}
}

func paged(params ...Param) []Param {
	return append(params, query("cursor", "next of the page before"), number("limit", "1 to 1000, default 100"))
}

var (
	paramNS    = inPath("ns", "database.collection, path-escaped once")
	paramShard = inPath("name", "a shard's name, path-escaped once")
	paramRef   = inPath("ref", "a chunk's reference as the list of chunks gives it, or its part after the dot")
	paramID    = inPath("id", "a project's id, 24 hexadecimal digits")
)

// paramsAsk are what a locate answer can hold beyond the places.
var paramsAsk = []Param{
	query("why", "1 adds to each place the chain from value to machines, and a sentence for a ticket"),
	query("prove", "1 compares each place with the mongos's explain; at most 24"),
	query("counts", "1 counts the rows of each place by one query of at most 2 s"),
}

// routes is the whole route table, of a server on which everything is on.
func routes() []Route {
	return withTime(slices.Concat(pageRoutes(), apiRoutes(), signInRoutes(), accountRoutes(), auditRoutes(), actionRoutes(), heatRoutes(), surveyRoutes(), historyRoutes(), adviceRoutes(), dataRoutes(), operationRoutes()))
}

func pageRoutes() []Route {
	with := func(r Route, h func(*Site, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		r.handler, r.Params = h, params
		return r
	}
	shard := page("/shards/{name}", "What is on a shard?")
	shard.Types = append(shard.Types, mediaCSV) // of a name that ends in .csv
	csv := page("/shards/{name}.csv", "What is on a shard, as CSV")
	csv.Types = []string{mediaCSV}
	locateOne := page("/locate", "Where is it?")
	locateOne.Tagged, locateOne.Policy = false, PolicyLocate // asks the cluster
	bulk := fresh(page("/locate/bulk", "Locate many lines"))
	bulk.Policy = PolicyLocate
	measure := form("/collections/{ns}/chunks/{ref}/size", PolicyOperate, "Measure one chunk; reads only", (*Site).postChunkSize, mediaHTML)
	measure.Params = []Param{paramNS, paramRef}
	return []Route{
		with(page("/", "Is the cluster balanced, what is wrong?"), (*Site).pageOverview),
		with(shard, (*Site).shardPageOrCSV, paramShard),
		with(csv, (*Site).shardCSV, paramShard),
		with(page("/collections", "Collections by shard"), (*Site).pageCollections),
		with(page("/collections/{ns}", "How is one collection's key space cut?"), (*Site).pageCollection, paramNS),
		measure,
		with(page("/collections/{ns}/chunks/{ref}", "Why is one chunk there, and why does it not move?"), (*Site).pageChunk, paramNS, paramRef),
		with(page("/projects", "Projects and their spread"), (*Site).pageProjects, query("q", "name, id or public key")),
		with(fresh(page("/projects/{id}", "Where is one project?")), (*Site).pageProject, paramID),
		with(locateOne, (*Site).pageLocate, query("q", "project/key, project or id"), query("ns", "namespace"), query("key", "shard key in Extended JSON"), paramsAsk[1], paramsAsk[2]),
		with(page("/layout", "Is it sharded as its schema means it to be?"), (*Site).pageLayout,
			query("db", "one database only"), query("layout", "compare with this layout")),
		with(bulk, (*Site).pageBulk),
		answering(form("/locate/bulk", PolicyLocate, "Locate up to 1,000 lines, as a page or as CSV", (*Site).pageBulkAnswer, mediaHTML, mediaCSV), http.StatusOK),
		with(fresh(page("/checks/duplicates", "Ids on more than one shard")), (*Site).pageDuplicates),
		form("/checks/duplicates", PolicyOperate, "Start, go on with or stop that check; reads only", (*Site).postDuplicates, mediaHTML),
		with(page("/zones", "Zones, their ranges and shards"), (*Site).pageZones),
		with(page("/activity", "What the cluster did"), (*Site).pageActivity),
	}
}

func apiRoutes() []Route {
	get := func(path, summary string, answer any, h func(*Site, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		return Route{Method: "GET", Pattern: api.Prefix + path, Policy: PolicyRead, Tag: tagAPI, Summary: summary,
			Params: params, Answer: answer, Tagged: true, handler: h}
	}
	shard := get("/shards/{name}", "One shard and what is on it", api.ShardDetail{}, (*Site).apiShard, paramShard)
	shard.Types = []string{mediaJSON, mediaCSV}
	locateOne := get("/locate", "Which shard holds it?", api.LocateAnswer{}, (*Site).apiLocate,
		query("q", "project/key, project, id, log reference, dashboard address or UUID; with ns a value of its shard key"), query("ns", "namespace, with key"), query("key", "shard key in Extended JSON, with ns"))
	locateOne.Tagged, locateOne.Policy, locateOne.Types = false, PolicyLocate, []string{mediaJSON, mediaCSV}
	locateMany := Route{Method: "POST", Pattern: api.Prefix + "/locate", Policy: PolicyLocate, Tag: tagAPI, Summary: "Locate up to 1,000 lines",
		Body: api.LocateRequest{}, Takes: []string{mediaText}, Answer: api.List[api.LocateLine]{}, Types: []string{mediaJSON, mediaCSV}, handler: (*Site).apiLocateLines}
	duplicates := get("/checks/duplicates", "The check for ids on more than one shard", api.DuplicateCheck{}, (*Site).apiDuplicates)
	duplicates.Tagged = false // its progress is no part of the table
	post := func(path, summary string, body, answer any, h func(*Site, http.ResponseWriter, *http.Request) error) Route {
		return Route{Method: "POST", Pattern: api.Prefix + path, Policy: PolicyOperate, Tag: tagAPI, Summary: summary, Body: body, Answer: answer, handler: h}
	}
	locateOne.Params = append(locateOne.Params, paramsAsk...)
	size := get("/collections/{ns}/chunks/{ref}/size", "Documents and bytes of one chunk, and whether its shard would move it", api.ChunkSize{}, (*Site).apiChunkSize,
		paramNS, paramRef)
	size.Tagged = false // what is measured is no part of the table
	measure := post("/collections/{ns}/chunks/{ref}/size", "Measure one chunk with dataSize, for at most 10 s; reads only", api.ChunkMeasure{}, api.ChunkSize{}, (*Site).apiMeasureChunk)
	measure.Params, measure.BodyOptional = []Param{paramNS, paramRef}, true
	return []Route{
		get("/cluster", "The cluster in one object", api.Cluster{}, (*Site).apiCluster),
		get("/shards", "Shards", api.List[api.Shard]{}, (*Site).apiShards, paged()...),
		shard,
		get("/collections", "Collections by shard", api.List[api.Collection]{}, (*Site).apiCollections, paged(query("db", "one database only"))...),
		get("/collections/{ns}", "One collection", api.CollectionDetail{}, (*Site).apiCollection, paramNS),
		get("/collections/{ns}/chunks", "Chunks of a collection, in key order or by size or writes", api.ChunkList{}, (*Site).apiChunks,
			paged(paramNS, query("shard", "on this shard"), query("jumbo", "true or false"), query("zone", "covered by this zone"),
				query("oversized", "true or false: has more documents than its shard moves at once, as far as is known"),
				query("sort", "bytes, documents or heat, largest first; measured chunks by what was measured, others by the estimate of their shard"),
				query("from", "begin with the chunk of this bound"), query("key", "only the chunk that holds this key"))...),
		get("/collections/{ns}/chunks/{ref}/why", "Why one chunk is where it is, and what the balancer makes of it", api.ChunkWhy{}, (*Site).apiChunkWhy,
			paramNS, paramRef),
		size,
		measure,
		get("/collections/{ns}/map", "A tile of the chunk map", api.Tile{}, (*Site).apiMap,
			paramNS, number("level", "0 to 20: the chunks are cut into 2^level tiles"), number("index", "tile, from 0")),
		get("/projects", "Projects with their spread", api.List[api.Project]{}, (*Site).apiProjects, paged(query("q", "name, id or public key"))...),
		get("/projects/{id}", "One project, collection by collection", api.ProjectDetail{}, (*Site).apiProject,
			paramID, query("db", "of this database, where several have the id")),
		get("/projects/{id}/why", "Why a project's own chunks are where they are", api.ProjectWhy{}, (*Site).apiProjectWhy, paramID),
		locateOne,
		locateMany,
		duplicates,
		post("/checks/duplicates", "Look for ids on more than one shard; reads only", api.DuplicateStart{}, api.DuplicateCheck{}, (*Site).apiStartDuplicates),
		post("/checks/duplicates/stop", "Stop looking; it can be gone on with", nil, api.DuplicateCheck{}, (*Site).apiStopDuplicates),
		get("/layout", "Shard keys beside those of the nearest layout", api.List[api.Layout]{}, (*Site).apiLayout,
			query("db", "one database only"), query("layout", "compare with this layout, not the nearest")),
		get("/zones", "Zones, their shards and ranges", api.List[api.Zone]{}, (*Site).apiZones, paged()...),
		get("/activity", "The changelog, newest first", api.FoldedList[api.Event]{}, (*Site).apiActivity,
			paged(query("ns", "of this namespace"), query("what", "this kind of entry, or a prefix that ends in a dot"), internalQuery())...),
		{Method: "GET", Pattern: "/api/openapi.json", Policy: PolicyOpen, Tag: tagOperations, Summary: "This description",
			Answer: map[string]any{}, handler: (*Site).serveOpenAPI},
	}
}

func operationRoutes() []Route {
	static := func(pattern, summary string) Route {
		return Route{Method: "GET", Pattern: pattern, Policy: PolicyOpen, Tag: tagOperations, Summary: summary, Stream: true,
			Params: []Param{inPath("file", "name with hash")}, Types: []string{"text/css", "text/javascript", "image/svg+xml"}, handler: (*Site).serveStatic}
	}
	return []Route{
		{Method: "GET", Pattern: "/live", Policy: PolicyRead, Tag: tagOperations, Summary: "Live updates (WebSocket)",
			Params: []Param{query("t", "topics, comma-separated, each with the version that the browser has: overview@12,zones")},
			Types:  []string{mediaJSON}, Stream: true, handler: (*Site).live},
		{Method: "GET", Pattern: "/healthz", Policy: PolicyOpen, Tag: tagOperations, Summary: "Is it serving?",
			Types: []string{mediaText}, handler: (*Site).healthz},
		{Method: "GET", Pattern: "/readyz", Policy: PolicyOpen, Tag: tagOperations, Summary: "Are table and projects loaded, and can everything be stored?",
			Status: []int{http.StatusOK, http.StatusServiceUnavailable}, Answer: api.Ready{}, handler: (*Site).readyz},
		{Method: "GET", Pattern: "/metrics", Policy: PolicyNear, Tag: tagOperations, Summary: "Prometheus metrics",
			Types: []string{mediaText}, handler: (*Site).serveMetrics},
		static("/static/{file}", "Own style sheet and icon, by content hash"),
		static("/static/js/{file}", "Own scripts, by content hash"),
	}
}
