package web

import (
	"net/http"

	"shardboard/internal/api"
)

// historyRoutes are those of placement history and of what the cluster did.
func historyRoutes() []Route {
	get := func(path, summary string, answer any, h func(*Site, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		return Route{Method: "GET", Pattern: api.Prefix + path, Policy: PolicyRead, Tag: tagAPI, Summary: summary, Params: params, Answer: answer, handler: h}
	}
	plain := func(pattern, summary string, h func(*Site, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		r := fresh(page(pattern, summary))
		r.handler, r.Params = h, params
		return r
	}
	from, to := query("from", "RFC 3339 or milliseconds since 1970; default a day before to, or where history begins"), query("to", "likewise; default now")
	return []Route{
		plain("/compare", "What became different between two times?", (*Site).pageCompare, from, to, internalQuery()),
		plain("/watch", "Where is what is watched?", (*Site).pageWatch, query("watch", "project:<id> or chunk:<namespace>:<reference>; up to 20 times")),
		answering(plain("/history/step", "Leads to a page at the time of the next change or failure", (*Site).pageHistoryStep,
			query("page", "address of the page, default the overview"), query("at", "from this time; default now"), query("to", "prev or next"), query("of", "change or failure")), http.StatusSeeOther),
		get("/history", "What happened, oldest first", api.History{}, (*Site).apiHistory, paged(internalQuery(), query("ns", "of this collection; what is about no collection too"), from, to)...),
		get("/history/compare", "What became different between two times", api.Comparison{}, (*Site).apiCompare, from, to, internalQuery()),
		get("/activity/inflight", "Migrations under way, the oldest first", api.List[api.InFlight]{}, (*Site).apiInFlight,
			query("ns", "of this collection"), query("shard", "from or to this shard")),
		get("/activity/migrations", "Moves as the changelog tells of them, newest first", api.FoldedList[api.Migration]{}, (*Site).apiMigrations,
			query("ns", "of this collection"), query("state", "running, committed, done, aborted or unclear"), number("limit", "1 to 1000, default 100"), internalQuery()),
		get("/activity/failures", "Moves that failed, by reason", api.FoldedList[api.MigrationFailures]{}, (*Site).apiFailures, internalQuery(), query("ns", "of this collection")),
	}
}
