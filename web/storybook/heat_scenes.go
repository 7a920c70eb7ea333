package storybook

import (
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// heatScenes are the pages that show writes, where they have been counted; those of other scenes show that
// nothing is counted yet.
func heatScenes(fine, lost answer.View) []webtest.Scene {
	hundred := webtest.NewStory()
	hundred.Shards, hundred.Chunks = 100, 400
	hot := func(v answer.View, during time.Duration, broke error) func(*site.Deps) {
		src := webtest.WritesToSeveral(v)
		for _, s := range v.Table.Shards {
			src.Shards, src.ReadsEach = append(src.Shards, s.Name), 60
		}
		return webtest.CountedHeat(v, src, during, broke)
	}
	refused := func(d *site.Deps) {
		src := webtest.SkewedWrites(fine)
		src.Fail = fault.New(fault.Forbidden, "The cluster user lacks find on yorkie-meta.changes.")
		webtest.CountedHeat(fine, src, 2*time.Minute, nil)(d)
	}
	counted := hot(fine, 2*time.Hour, nil)
	project := "/projects/" + fine.Dir.All()[0].ID.Hex()
	chunk := webtest.ChunkPath(fine, "yorkie-meta.changes", 2)
	var out []webtest.Scene
	for _, p := range []page{
		{"heat", "/heat"}, {"heat-projects", "/heat?by=project"}, {"heat-collection", "/heat?ns=yorkie-meta.snapshots"},
		{"heat-selected", selectedHeat(fine)}, {"overview-counted", "/"}, {"map-counted", "/map?by=heat"},
		{"matrix-counted", "/matrix?measure=writes"}, {"matrix-reads", "/matrix?measure=reads"},
		{"collection-counted", "/collections/yorkie-meta.changes?sort=heat"},
		{"chunk-counted", chunk}, {"project-counted", project}, {"shard-counted", "/shards/shard-rs-1"},
		{"why-counted", "/shards/shard-rs-1/why?by=writes"}, {"advice-counted", "/advice"},
	} {
		out = append(out, webtest.Scene{Name: p.name, Path: p.path, View: fine, Change: counted})
	}
	many, long, hostile := hundred.View(), renamed(longName), renamed(hostileName)
	broken := fault.New(fault.Unavailable, "The cluster does not answer.")
	return append(out,
		webtest.Scene{Name: "heat-minute", Path: "/heat", View: fine, Change: hot(fine, time.Minute, nil)},
		webtest.Scene{Name: "heat-broken", Path: "/heat", View: lost, Change: hot(fine, 30*time.Minute, broken)},
		webtest.Scene{Name: "heat-refused", Path: "/heat", View: fine, Change: refused},
		webtest.Scene{Name: "heat-counted-hundred", Path: "/heat", View: many, Change: hot(many, time.Hour, nil)},
		webtest.Scene{Name: "map-counted-hundred", Path: "/map?by=heat", View: many, Change: hot(many, time.Hour, nil)},
		webtest.Scene{Name: "heat-counted-longnames", Path: "/heat?by=project", View: long, Change: hot(long, time.Hour, nil)},
		webtest.Scene{Name: "heat-counted-hostile", Path: "/heat?by=project", View: hostile, Change: hot(hostile, time.Hour, nil)},
	)
}

// selectedHeat is the picture by project with its hottest row chosen in the last half hour.
func selectedHeat(v answer.View) string {
	return "/heat?by=project&rows=" + v.Dir.All()[0].ID.Hex() + "&from=" + v.Now.Add(-30*time.Minute).UTC().Format(time.RFC3339) +
		"&to=" + v.Now.UTC().Format(time.RFC3339)
}
