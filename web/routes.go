package web

import (
	"net/http"
	"slices"
	"sync"

	"github.com/go-chi/chi/v5"

	"shardboard/web/account"
	"shardboard/web/activity"
	"shardboard/web/advice"
	"shardboard/web/audit"
	"shardboard/web/changes"
	"shardboard/web/clustermap"
	"shardboard/web/collections"
	"shardboard/web/find"
	"shardboard/web/fleet"
	"shardboard/web/guard"
	"shardboard/web/heat"
	"shardboard/web/help"
	"shardboard/web/lab"
	"shardboard/web/locate"
	"shardboard/web/matrix"
	"shardboard/web/overview"
	"shardboard/web/projects"
	"shardboard/web/shards"
	"shardboard/web/site"
	"shardboard/web/surveys"
	"shardboard/web/templates"
	"shardboard/web/tour"
	"shardboard/web/zones"
)

// routes is the whole route table, of a server on which everything is on.
func routes() []site.Route { return routesOf(changes.Routes) }

// served is the route table of a configuration. Where nothing can be changed there is no route of plans
// and runs at all. On a server of several clusters, those of the server are at the root and those of a
// cluster below its base.
func served(d site.Deps) []site.Route {
	changing := changes.Routes
	if d.Changes.Actions == nil {
		changing = nil
	}
	switch {
	case d.Place.Base.Prefix != "":
		return site.Complete(ofCluster(changing))
	case d.Place.Clusters != nil:
		return site.Complete(slices.Concat(fleet.Routes, ofAnyRole(find.Routes), ofAnyRole(help.Routes),
			ofAnyRole(help.RunbookRoutes), ofServer(), ofAnyRole(site.Updates())))
	}
	return routesOf(changing)
}

// ofAnyRole lets those use routes who have a role on some cluster only: on the server's own site these
// answer with what the caller may see.
func ofAnyRole(table []site.Route) []site.Route {
	out := slices.Clone(table)
	for i := range out {
		if out[i].Policy == guard.PolicyRead {
			out[i].Policy = guard.PolicySelf
		}
	}
	return out
}

func routesOf(changing []site.Route) []site.Route {
	return site.Complete(slices.Concat(ofCluster(changing), help.RunbookRoutes, ofServer()))
}

// clusterPages has every page of a cluster.
var clusterPages = sync.OnceValue(func() *chi.Mux {
	mux := chi.NewRouter()
	for _, rt := range ofCluster(changes.Routes) {
		if rt.Method == http.MethodGet && rt.Tag == site.TagPages && rt.Types[0] == site.MediaHTML {
			mux.Method(rt.Method, rt.Pattern, http.NotFoundHandler())
		}
	}
	return mux
})

// clusterPage tells whether a path below a cluster's base is that of a page.
func clusterPage(path string) bool {
	return clusterPages().Match(chi.NewRouteContext(), http.MethodGet, path)
}

// described is the table that the description of the API is made of: on the server's own site also
// what each of its clusters answers.
func described(d site.Deps) []site.Route {
	table := served(d)
	if d.Place.Clusters == nil || d.Place.Base.Prefix != "" {
		return table
	}
	for _, rt := range site.Complete(ofCluster(changes.Routes)) {
		rt.Pattern = "/c/{cluster}" + rt.Pattern
		rt.Params = append(slices.Clone(rt.Params), site.InPath("cluster", "name of the cluster"))
		table = append(table, rt)
	}
	return table
}

// ofCluster are the routes about one cluster.
func ofCluster(changing []site.Route) []site.Route {
	return slices.Concat(
		overview.Routes, clustermap.Routes, matrix.Routes,
		collections.Routes, projects.Routes, shards.Routes,
		locate.Routes, find.Routes,
		zones.Routes, activity.Routes,
		changing,
		heat.Routes, surveys.Routes, advice.Routes, help.Routes,
		lab.Routes, tour.Routes,
		site.Updates(),
	)
}

// ofServer are the routes about the server: the audit record, accounts and its own state.
func ofServer() []site.Route { return slices.Concat(audit.Routes, account.Routes, site.Operations()) }

// serverParts are the beginnings of addresses that are the server's.
var serverParts = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{"c": true, "clusters": true}
	for _, rt := range slices.Concat(help.RunbookRoutes, ofServer()) {
		out[templates.FirstPart(rt.Pattern)] = true
	}
	return out
})

// firstParts are the first parts of all addresses of a server, whatever is on.
var firstParts = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{"api": true, "c": true}
	for _, rt := range slices.Concat(routes(), fleet.Routes) {
		out[templates.FirstPart(rt.Pattern)] = true
	}
	return out
})

// Begins tells whether an address of a server begins with a part, such as "shards".
func Begins(part string) bool { return firstParts()[templates.FirstPart("/"+part)] }

// Pages are the patterns of all pages that people read, sign-in included.
func Pages() (out []string) {
	for _, rt := range routes() {
		if rt.Method == http.MethodGet && rt.Tag == site.TagPages && rt.Types[0] == site.MediaHTML {
			out = append(out, rt.Pattern)
		}
	}
	return out
}
