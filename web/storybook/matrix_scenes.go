package storybook

import (
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// matrixScenes are the matrix in every state.
func matrixScenes(fine, empty, denied, lost, moving answer.View) []webtest.Scene {
	many := webtest.NewStory()
	many.Shards, many.Projects = 100, 400
	unmeasured := func(d *site.Deps) { d.Measured.Holdings = nil }
	scene := func(name, query string, v answer.View) webtest.Scene {
		return webtest.Scene{Name: "matrix-" + name, Path: "/matrix" + query, View: v}
	}
	off := scene("unmeasured", "?by=projects", fine)
	off.Change = unmeasured
	return []webtest.Scene{
		scene("collections", "", fine), scene("projects", "?by=projects", fine), scene("empty", "?q=nothing", fine),
		scene("loading", "", empty), scene("projects-loading", "?by=projects", empty), scene("denied", "", denied),
		scene("projects-denied", "?by=projects", denied), scene("stale", "", lost), scene("moving", "", moving),
		scene("shares", "?show=column&measure=documents&sort=on%3Ashard-rs-2", fine), scene("writes", "?measure=writes", fine),
		scene("reads-projects", "?by=projects&measure=reads", fine),
		scene("100-shards", "", many.View()), scene("row-shards", "?open=shards%3Ayorkie-meta.changes", many.View()),
		scene("zones", "", webtest.NewStory().With(webtest.Troubled).View()),
		scene("rest", "?by=projects&page=2&open=rest", fine),
		{Name: "project-on-shard", Path: "/projects/" + fine.Dir.All()[0].ID.Hex() + "?shard=shard-rs-2", View: fine}, scene("long-names", "",
			longNames()), off,
	}
}

// longNames has names that are long, foreign or markup.
func longNames() answer.View {
	v := webtest.NewStory().With(func(t *topology.Table) {
		for _, name := range []string{strings.Repeat("long_", 40), "<script>alert(1)</script>", "\u202eevil", "名前 🗄"} {
			ns := topology.Namespace("shop." + name)
			t.Unsharded = append(t.Unsharded, ns)
			t.Sizes[ns] = topology.Sizes{NS: ns, At: webtest.Epoch, Shards: map[string]topology.Size{"shard-rs-2": webtest.Size(12_345_678, 10)}}
		}
		t.Databases = append(t.Databases, topology.Database{Name: "shop", Primary: "shard-rs-2"})
		t.Shards[2].Name = "shard-" + strings.Repeat("very-", 20) + "long"
	}).View()
	v.Dir = placement.NewDirectory(1, []string{"yorkie-meta"}, nil, topology.Health{At: v.Now})
	return v
}
