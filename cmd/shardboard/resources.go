package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"shardboard/internal/app"
)

// resource is something that `get` shows: a list of the API, one object of it, or both.
type resource struct {
	name    string
	alias   string   // of one
	list    string   // address of the list, as in the API's description; "" if there is none
	part    string   // address of the list of one collection alone, if it has one
	one     string   // address of one object; "" if there is none
	rows    string   // the field with the list's items; "" is items
	flag    string   // by which the last part of list is chosen; "": by its place on the command line
	by      []string // values of the last part of list; the first is the default
	columns []string // of the usual table, by their names in CSV; none: all
	// columnsBy are those for values of by, where they are others.
	columnsBy map[string][]string
	server    string // why only a server knows it; "" if the cluster is enough
}

// Why only a running server can tell something.
const (
	needsCounting  = "Writes are counted over time"
	needsFollowing = "Moves under way are followed over time"
	needsHistory   = "The past is recorded over time"
	needsRecord    = "Changes, people and their record are kept by a server"
	needsMeasured  = "Measurements run in a server"

	needsConfiguration = "Several clusters are named in the configuration of a server"
)

// resources are all of them, in the order of --help. A new list of the API is one line here; a test
// compares them.
func resources() []resource {
	return []resource{
		{name: "shards", alias: "shard", list: "/shards", one: "/shards/{name}",
			columns: []string{"name", "chunks", "bytes", "documents", "disk.used", "disk.total", "draining", "answering.state", "zones"}},
		{name: "collections", alias: "collection", list: "/collections", one: "/collections/{ns}",
			columns: []string{"ns", "sharded", "chunks", "jumbo", "bytes", "documents", "key", "zones"}},
		{name: "chunks", alias: "chunk", list: "/chunks", part: "/collections/{ns}/chunks", one: "/collections/{ns}/chunks/{ref}/why",
			columns: []string{"ns", "shard", "min", "documents", "bytes", "writesPerSecond", "jumbo", "zone", "max", "ref"}},
		{name: "projects", alias: "project", list: "/projects", one: "/projects/{id}",
			columns: []string{"name", "documents", "bytes", "writes", "shards", "marks", "createdAt", "id"}},
		{name: "documents", list: "/projects/{id}/documents", flag: "project",
			columns: []string{"key", "shards", "removed", "changes", "updatedAt", "id"}},
		{name: "zones", alias: "zone", list: "/zones",
			columns: []string{"zone", "shards", "ranges.ns", "ranges.min", "ranges.max", "ranges.chunks", "ranges.outside"}},
		{name: "activity", list: "/activity",
			columns: []string{"time", "what", "ns", "shard", "outcome", "cause.by", "projectName", "meaning"}},
		{name: "heat", list: "/heat/{by}", by: []string{"projects", "project-shards", "documents", "chunks", "shards"}, server: needsCounting,
			columns: []string{"writesPerSecond", "share", "name", "ns", "shard", "id", "project"},
			columnsBy: map[string][]string{
				"chunks":         {"writesPerSecond", "share", "ns", "shard", "bounds.min", "bounds.max", "top", "id"},
				"documents":      {"writesPerSecond", "share", "ns", "shard", "id", "project"},
				"project-shards": {"writesPerSecond", "name", "shard", "projectShare", "shardShare", "ns", "id"},
				"shards":         {"writesPerSecond", "share", "name", "readsPerSecond", "readMillis", "writeMillis"}}},
		{name: "operations", list: "/heat/operations", server: needsCounting,
			columns: []string{"shard", "ns", "readsPerSecond", "readMillis", "readShare", "writesPerSecond", "writeMillis"}},
		{name: "advice", list: "/advice", columns: []string{"severity", "title", "expected", "consequences", "taken.by", "id"}},
		{name: "past-problems", list: "/advice/past", server: needsHistory,
			columns: []string{"began", "ended", "severity", "title", "worst", "id"}},
		{name: "postmortem", one: "/postmortem", server: needsHistory},
		{name: "map", list: "/map", one: "/map/{ns}/tile", rows: "bands",
			columns: []string{"ns", "sharded", "total", "bytes", "unsharded", "zoned", "jumbo", "heat"}},
		{name: "matrix", list: "/matrix",
			columns: []string{"kind", "name", "shards.shard", "shards.bytes", "shards.documents", "shards.writesPerSecond",
				"shards.readsPerSecond"}},
		{name: "cluster", one: "/cluster"},
		{name: "profile", one: "/profile"},
		{name: "clusters", list: "/clusters", server: needsConfiguration,
			columns: []string{"name", "state", "critical", "warnings", "shards", "bytes", "balancer", "serverVersion", "worst", "text"}},
		{name: "layout", list: "/layout", columns: []string{"db", "profile", "nearest", "compared", "looks"}},
		{name: "moves", list: "/activity/migrations", columns: []string{"begin", "state", "ns", "from", "to", "documents", "bytes", "meaning"}},
		{name: "moving", list: "/activity/inflight", server: needsFollowing,
			columns: []string{"since", "ns", "from", "to", "step", "steps", "copied", "estimate", "by", "min"}},
		{name: "failures", list: "/activity/failures", columns: []string{"count", "reasonCode", "meaning", "last"}},
		{name: "histogram", list: "/activity/histogram", columns: []string{"from", "to", "other", "failed"}},
		{name: "history", list: "/history", server: needsHistory, columns: []string{"time", "kind", "ns", "subject", "from", "to", "cause.by"}},
		{name: "comparison", one: "/history/compare", server: needsHistory},
		{name: "runs", alias: "run", list: "/runs", one: "/runs/{id}", server: needsRecord,
			columns: []string{"id", "state", "summary", "startedAt", "byName"}},
		{name: "plan", one: "/plans/{id}", server: needsRecord},
		{name: "approvals", list: "/approvals", server: needsRecord,
			columns: []string{"id", "summary", "byName", "expiresAt", "forYou", "reason"}},
		{name: "surveys", alias: "survey", list: "/surveys", one: "/surveys/{survey}", server: needsMeasured,
			columns: []string{"id", "kind", "state", "ns", "startedAt", "endedAt", "problem"}},
		{name: "duplicates", list: "/checks/duplicates", server: needsMeasured, columns: []string{"ns", "id", "rows", "at"}},
		{name: "alerts", one: "/alerts", server: needsRecord},
		{name: "audit", list: "/audit", server: needsRecord, columns: []string{"seq", "at", "by", "what", "outcome", "subject"}},
		{name: "users", list: "/users", server: needsRecord},
		{name: "sessions", list: "/sessions", server: needsRecord},
		{name: "tokens", list: "/tokens", server: needsRecord},
		{name: "me", one: "/me", server: needsRecord},
		{name: "data", one: "/data", server: needsRecord},

		{name: "shard-why", list: "/shards/{name}/why",
			columns: []string{"kind", "text", "here", "even", "difference", "whyNot"}},
		{name: "project-why", one: "/projects/{id}/why"},
		{name: "chunk-around", one: "/collections/{ns}/chunks/{ref}/around"},
		{name: "chunk-size", one: "/collections/{ns}/chunks/{ref}/size", server: needsMeasured},
		{name: "owners", one: "/collections/{ns}/owners"},
		{name: "key-space", one: "/collections/{ns}/map"},
		{name: "heat-map", one: "/heat/map", server: needsCounting},
		{name: "heat-range", one: "/heat/range", server: needsCounting},
	}
}

// leftOut are the questions of the API that `get` does not ask, with the reason.
var leftOut = map[string]string{
	"/locate":          "the command locate asks it",
	"/find":            "finds pages of the dashboard while somebody types",
	"/map/{ns}/chunk":  "a position of the picture; get chunks shows chunks",
	"/audit/head":      "the command audit verify reads and checks it",
	"/audit/heads":     "the command audit export has them",
	"/lab/growth":      "the command lab growth asks it",
	"/runs/{id}/items": "the command runs items asks it",
	"/lab/keys":        "the command lab keys computes it",
	"/lab/game":        "the command lab game computes it",
	"/lab/ids":         "the command lab ids computes it",
	"/lab/game/turns":  "the command lab game --turns computes them",
}

// resourceNamed finds a resource by its name or the name of one; ok is false if there is none.
func resourceNamed(name string) (resource, bool) {
	all := resources()
	if i := slices.IndexFunc(all, func(r resource) bool { return r.name == name || r.alias != "" && r.alias == name }); i >= 0 {
		return all[i], true
	}
	return resource{}, false
}

// lists are the addresses of the list: one, or one for each value of by.
func (r resource) lists() []string {
	if len(r.by) == 0 {
		return []string{r.list}
	}
	var out []string
	for _, value := range r.by {
		out = append(out, strings.ReplaceAll(r.list, "{by}", value))
	}
	return out
}

// questions are those of the API; making them walks the whole route table.
var questions = sync.OnceValue(app.Questions)

// question is the API's question at an address. The addresses of resources are those of questions; a
// test checks it.
func question(path string) app.Question {
	all := questions()
	if i := slices.IndexFunc(all, func(q app.Question) bool { return q.Path == path }); i >= 0 {
		return all[i]
	}
	panic(fmt.Sprintf("shardboard: the API has no question %s", path))
}

// inPath are the names of the parts of an address that are chosen, in their order.
func inPath(path string) []string {
	var out []string
	for part := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(part, "{") {
			out = append(out, strings.Trim(part, "{}"))
		}
	}
	return out
}
