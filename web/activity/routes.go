package activity

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// twoTimesAsked are the times of a comparison, and of what happened between them.
var twoTimesAsked = site.Described(ofTwoTimes(new(time.Time), new(time.Time), time.Time{}))

// Routes of what the cluster did, and of placement history.
var Routes = site.Table(
	site.Question[api.FoldedList[api.Event]]{
		Route: site.Route{Pattern: "/activity", Summary: "What the cluster did", Tagged: true, Time: site.Past, Internal: true,
			Topic: site.Topic{Kind: "activity", Draw: func(ctx context.Context, s *site.Site, v answer.View, _ string) (templ.Component, error) {
				v.Eras = s.Eras(v)
				return Region(ctx, v)
			}}},
		Page: Page, Ask: events, For: "The changelog, newest first",
		OfPage: site.Takes[logbook.ActivityQuery](), OfData: site.Takes[logbook.EventsQuery](),
	},
	site.Asked(site.Route{Pattern: "/activity/histogram", Summary: "Entries of the changelog over time",
		Params: site.Takes[logbook.ActivityQuery](), Time: site.Past, Internal: true}, bars),
	site.Asked(site.Route{Pattern: "/activity/inflight", Summary: "Moves under way, the oldest first",
		Params: []site.Param{site.Query("ns", "of this collection"), site.Query("shard", "from or to this shard")}}, inFlight),
	site.Asked(site.Route{Pattern: "/activity/migrations", Summary: "Moves according to the changelog, newest first",
		Params: site.Takes[logbook.MigrationsQuery](), Time: site.Past, Internal: true}, ofMigrations(logbook.Migrations)),
	site.Asked(site.Route{Pattern: "/activity/failures", Summary: "Moves that failed, by reason",
		Params: site.Takes[logbook.FailedMovesQuery](), Time: site.Past, Internal: true}, ofMigrations(logbook.MigrationFailures)),

	site.Question[api.Comparison]{
		Route: site.Route{Pattern: "/compare", Summary: "What became different between two times?", Params: append(slices.Clip(twoTimesAsked),
			site.Query(answer.ShardsParam, "all: the page lists every shard; of more than 36 only those that changed most")),
			Internal: true},
		Page: ComparePage, Ask: comparison, JSON: "/history/compare", For: "What became different between two times",
	},
	site.Asked(site.Route{Pattern: "/history", Summary: "What happened, oldest first",
		Params:   append(site.Takes[logbook.HistoryQuery](), twoTimesAsked...),
		Internal: true}, happened),
	site.Page(site.Route{Pattern: "/history/step", Summary: "Leads to a page at the time of the next change or failure",
		Handler: Step, Status: []int{http.StatusSeeOther},
		Params: []site.Param{site.Query("page", "address of the page, default the overview"), site.Query("at", "from this time; default now"),
			site.Query("to", "prev or next"),
			site.Query("of", "change or failure")}}),
	site.Page(site.Route{Pattern: "/watch", Summary: "Where is what is watched?", Handler: WatchPage,
		Params: []site.Param{site.Query("watch", "project:<id> or chunk:<namespace>:<reference>; up to 20 times")}}),
)
