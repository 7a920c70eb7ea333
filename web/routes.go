package web

import (
	"net/http"

	"shardboard/internal/api"
)

// Policy says who may use a route. The zero Policy is none at all and a route
// that has it fails the tests: nothing is open because somebody forgot it.
type Policy string

const (
	PolicyOpen Policy = "open" // needs no identity: health, metrics, static files
	PolicyRead Policy = "read" // may see the cluster
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
	Tag     string // pages, api, operations
	Summary string
	Params  []Param
	Body    any      // zero value of the request's JSON type; nil if none
	Answer  any      // zero value of the JSON answer's type; nil if it is not JSON
	Types   []string // media types of the answer, the default first; nil is JSON alone
	Tagged  bool     // has an ETag: a pure function of table, directory and address
	Stream  bool     // writes to the connection itself: no buffer, no compression, no deadline
	handler func(*Server, http.ResponseWriter, *http.Request) error
}

const (
	mediaHTML = "text/html"
	mediaCSV  = "text/csv"
	mediaJSON = "application/json"
)

func query(name, text string) Param  { return Param{Name: name, In: "query", Text: text} }
func inPath(name, text string) Param { return Param{Name: name, In: "path", Text: text} }
func number(name, text string) Param {
	return Param{Name: name, In: "query", Type: "integer", Text: text}
}
func page(pattern, summary string) Route {
	return Route{Method: "GET", Pattern: pattern, Policy: PolicyRead, Tag: "pages", Summary: summary, Types: []string{mediaHTML}, Tagged: true}
}
func paged(params ...Param) []Param {
	return append(params, query("cursor", "next of the page before"), number("limit", "1 to 1000, default 100"))
}

var (
	paramNS    = inPath("ns", "database.collection, path-escaped once")
	paramShard = inPath("name", "a shard's name, path-escaped once")
	paramID    = inPath("id", "a project's id, 24 hexadecimal digits")
)

// routes is the whole route table.
func routes() []Route {
	return append(append(pageRoutes(), apiRoutes()...), operationRoutes()...)
}

func pageRoutes() []Route {
	with := func(r Route, h func(*Server, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		r.handler, r.Params = h, params
		return r
	}
	csv := page("/shards/{name}.csv", "What is on a shard, as CSV")
	csv.Types = []string{mediaCSV}
	locate := page("/locate", "Where is it?")
	locate.Tagged = false // asks the cluster
	return []Route{
		with(page("/", "Is the cluster balanced, what is wrong?"), (*Server).pageOverview),
		with(page("/shards/{name}", "What is on a shard?"), (*Server).shardPageOrCSV, paramShard),
		with(csv, (*Server).shardCSV, paramShard),
		with(page("/collections", "Collections by shard"), (*Server).pageCollections),
		with(page("/collections/{ns}", "How is one collection's key space cut?"), (*Server).pageCollection, paramNS),
		with(page("/projects", "Projects and their spread"), (*Server).pageProjects, query("q", "name, id or public key")),
		with(page("/projects/{id}", "Where is one project?"), (*Server).pageProject, paramID),
		with(locate, (*Server).pageLocate, query("q", "project/key, project or id"), query("ns", "namespace"), query("key", "shard key in Extended JSON")),
		with(page("/zones", "Zones, their ranges and shards"), (*Server).pageZones),
		with(page("/activity", "What the cluster did"), (*Server).pageActivity),
	}
}

func apiRoutes() []Route {
	get := func(path, summary string, answer any, h func(*Server, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		return Route{Method: "GET", Pattern: api.Prefix + path, Policy: PolicyRead, Tag: "api", Summary: summary,
			Params: params, Answer: answer, Tagged: true, handler: h}
	}
	shard := get("/shards/{name}", "One shard and what is on it", api.ShardDetail{}, (*Server).apiShard, paramShard)
	shard.Types = []string{mediaJSON, mediaCSV}
	locate := get("/locate", "Which shard holds it?", api.List[api.LocateItem]{}, (*Server).apiLocate,
		query("q", "project/key, project or id"), query("ns", "namespace, with key"), query("key", "shard key in Extended JSON, with ns"))
	locate.Tagged = false
	locates := Route{Method: "POST", Pattern: api.Prefix + "/locate", Policy: PolicyRead, Tag: "api", Summary: "Locate up to 1,000 lines",
		Body: api.LocateRequest{}, Answer: api.List[api.LocateLine]{}, Types: []string{mediaJSON, mediaCSV}, handler: (*Server).apiLocateLines}
	return []Route{
		get("/cluster", "The cluster in one object", api.Cluster{}, (*Server).apiCluster),
		get("/shards", "Shards", api.List[api.Shard]{}, (*Server).apiShards, paged()...),
		shard,
		get("/collections", "Collections by shard", api.List[api.Collection]{}, (*Server).apiCollections, paged(query("db", "one database only"))...),
		get("/collections/{ns}", "One collection", api.CollectionDetail{}, (*Server).apiCollection, paramNS),
		get("/collections/{ns}/chunks", "Chunks of a collection in key order", api.List[api.Chunk]{}, (*Server).apiChunks,
			paged(paramNS, query("shard", "on this shard"), query("jumbo", "true or false"), query("zone", "covered by this zone"),
				query("from", "begin with the chunk of this bound"), query("key", "only the chunk that holds this key"))...),
		get("/collections/{ns}/map", "A tile of the chunk map", api.Tile{}, (*Server).apiMap,
			paramNS, number("level", "0 to 20: the chunks are cut into 2^level tiles"), number("index", "tile, from 0")),
		get("/projects", "Projects with their spread", api.List[api.Project]{}, (*Server).apiProjects, paged(query("q", "name, id or public key"))...),
		get("/projects/{id}", "One project, collection by collection", api.ProjectDetail{}, (*Server).apiProject,
			paramID, query("db", "of this database, where several have the id")),
		locate,
		locates,
		get("/zones", "Zones, their shards and ranges", api.List[api.Zone]{}, (*Server).apiZones, paged()...),
		get("/activity", "The changelog, newest first", api.List[api.Event]{}, (*Server).apiActivity,
			paged(query("ns", "of this namespace"), query("what", "this kind of entry, or a prefix that ends in a dot"))...),
		{Method: "GET", Pattern: "/api/openapi.json", Policy: PolicyOpen, Tag: "operations", Summary: "This description",
			Answer: map[string]any{}, handler: (*Server).serveOpenAPI},
	}
}

func operationRoutes() []Route {
	static := func(pattern, summary string) Route {
		return Route{Method: "GET", Pattern: pattern, Policy: PolicyOpen, Tag: "operations", Summary: summary, Stream: true,
			Params: []Param{inPath("file", "name with hash")}, Types: []string{"text/css", "text/javascript", "image/svg+xml"}, handler: (*Server).serveStatic}
	}
	return []Route{
		{Method: "GET", Pattern: "/live", Policy: PolicyRead, Tag: "operations", Summary: "Live updates (WebSocket)",
			Params: []Param{query("t", "topics, comma-separated, each with the version that the browser has: overview@12,zones")},
			Types:  []string{mediaJSON}, Stream: true, handler: (*Server).live},
		{Method: "GET", Pattern: "/healthz", Policy: PolicyOpen, Tag: "operations", Summary: "Is it serving?",
			Types: []string{"text/plain"}, handler: (*Server).healthz},
		{Method: "GET", Pattern: "/readyz", Policy: PolicyOpen, Tag: "operations", Summary: "Are table and projects loaded?",
			Answer: api.Ready{}, handler: (*Server).readyz},
		{Method: "GET", Pattern: "/metrics", Policy: PolicyOpen, Tag: "operations", Summary: "Prometheus metrics",
			Types: []string{"text/plain"}, handler: (*Server).serveMetrics},
		static("/static/{file}", "Own style sheet and icon, by content hash"),
		static("/static/js/{file}", "Own scripts, by content hash"),
	}
}
