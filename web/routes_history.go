package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/web/activity"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// historyRoutes are those of placement history and of what the cluster did.
func historyRoutes() []site.Route {
	get := func(path, summary string, answer any, h func(*site.Site, http.ResponseWriter, *http.Request) error, params ...site.Param) site.Route {
		return site.Route{Method: "GET", Pattern: api.Prefix + path, Policy: guard.PolicyRead, Tag: site.TagAPI, Summary: summary, Params: params, Answer: answer, Handler: h}
	}
	plain := func(pattern, summary string, h func(*site.Site, http.ResponseWriter, *http.Request) error, params ...site.Param) site.Route {
		r := site.Fresh(site.Page(pattern, summary))
		r.Handler, r.Params = h, params
		return r
	}
	from, to := site.Query("from", "RFC 3339 or milliseconds since 1970; default a day before to, or where history begins"), site.Query("to", "likewise; default now")
	return []site.Route{
		plain("/compare", "What became different between two times?", activity.ComparePage, from, to, site.InternalQuery()),
		plain("/watch", "Where is what is watched?", activity.WatchPage, site.Query("watch", "project:<id> or chunk:<namespace>:<reference>; up to 20 times")),
		site.Answering(plain("/history/step", "Leads to a page at the time of the next change or failure", activity.Step,
			site.Query("page", "address of the page, default the overview"), site.Query("at", "from this time; default now"), site.Query("to", "prev or next"), site.Query("of", "change or failure")), http.StatusSeeOther),
		get("/history", "What happened, oldest first", api.History{}, activity.HistoryJSON, site.Paged(site.InternalQuery(), site.Query("ns", "of this collection; what is about no collection too"), from, to)...),
		get("/history/compare", "What became different between two times", api.Comparison{}, activity.CompareJSON, from, to, site.InternalQuery()),
		get("/activity/inflight", "Migrations under way, the oldest first", api.List[api.InFlight]{}, activity.InFlightJSON,
			site.Query("ns", "of this collection"), site.Query("shard", "from or to this shard")),
		get("/activity/migrations", "Moves as the changelog tells of them, newest first", api.FoldedList[api.Migration]{}, activity.MigrationsJSON,
			site.Query("ns", "of this collection"), site.Query("state", "running, committed, done, aborted or unclear"), site.Number("limit", "1 to 1000, default 100"), site.InternalQuery()),
		get("/activity/failures", "Moves that failed, by reason", api.FoldedList[api.MigrationFailures]{}, activity.FailuresJSON, site.InternalQuery(), site.Query("ns", "of this collection")),
	}
}
