package storybook

import (
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// mapScenes are the map in every state; those of the overview have it too.
func mapScenes(fine, bad, moving, denied, lost, empty answer.View) []webtest.Scene {
	const one = "/map?ns=yorkie-meta.changes"
	many := webtest.NewStory()
	many.Chunks = 5000
	wide := webtest.NewStory()
	wide.Shards, wide.Chunks = 24, 90
	none := webtest.NewStory().With(func(t *topology.Table) { t.Collections, t.Unsharded = nil, []topology.Namespace{} }).View()
	plain := webtest.NewStory().With(func(t *topology.Table) { t.Collections = nil }).View()
	stale := webtest.NewStory().With(movingStory).With(func(t *topology.Table) {
		t.Health[topology.PartMoves] = topology.Health{At: webtest.Epoch.Add(-time.Minute),
			Err: fault.New(fault.Unavailable, "The cluster does not answer.")}
	}).View()
	return []webtest.Scene{
		{Name: "map", Path: "/map", View: fine}, {Name: "map-size", Path: "/map?by=size", View: fine},
		{Name: "map-heat", Path: "/map?by=heat", View: fine}, {Name: "map-age", Path: "/map?by=age", View: fine},
		{Name: "map-one", Path: one, View: fine}, {Name: "map-one-closer", Path: one + "&from=0.25&to=0.5", View: many.View()},
		{Name: "map-one-many", Path: one, View: many.View()}, {Name: "map-many", Path: "/map", View: many.View()},
		{Name: "map-wide", Path: "/map", View: wide.View()}, {Name: "map-trouble", Path: "/map", View: bad},
		{Name: "map-moving", Path: "/map", View: moving}, {Name: "map-moving-lost", Path: "/map", View: stale},
		{Name: "map-denied", Path: "/map?by=size", View: denied}, {Name: "map-lost", Path: "/map", View: lost},
		{Name: "map-loading", Path: "/map", View: empty}, {Name: "map-none", Path: "/map", View: none},
		{Name: "map-unsharded", Path: "/map", View: plain},
	}
}
