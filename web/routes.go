package web

import (
	"net/http"
	"slices"

	"shardboard/web/account"
	"shardboard/web/activity"
	"shardboard/web/advice"
	"shardboard/web/audit"
	"shardboard/web/changes"
	"shardboard/web/clustermap"
	"shardboard/web/collections"
	"shardboard/web/find"
	"shardboard/web/heat"
	"shardboard/web/locate"
	"shardboard/web/matrix"
	"shardboard/web/overview"
	"shardboard/web/projects"
	"shardboard/web/shards"
	"shardboard/web/site"
	"shardboard/web/surveys"
	"shardboard/web/zones"
)

// routes is the whole route table, of a server on which everything is on.
func routes() []site.Route { return routesOf(changes.Routes) }

// served is the route table of a configuration: where nothing can be changed
// there is no route of plans and runs at all.
func served(d site.Deps) []site.Route {
	if d.Actions == nil {
		return routesOf(nil)
	}
	return routes()
}

func routesOf(changing []site.Route) []site.Route {
	return site.Complete(slices.Concat(
		overview.Routes, clustermap.Routes, matrix.Routes,
		collections.Routes, projects.Routes, shards.Routes,
		locate.Routes, find.Routes,
		zones.Routes, activity.Routes,
		changing,
		heat.Routes, surveys.Routes, advice.Routes, audit.Routes,
		account.Routes,
		site.Operations(),
	))
}

// Pages are the patterns of all pages that people read, sign-in included.
func Pages() (out []string) {
	for _, rt := range routes() {
		if rt.Method == http.MethodGet && rt.Tag == site.TagPages && rt.Types[0] == site.MediaHTML {
			out = append(out, rt.Pattern)
		}
	}
	return out
}
