package projects_test

import (
	"html"
	"slices"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// Of a collection whose chunks are not known, nobody says that it is not sharded and all on the primary shard.
func TestADamagedCollectionOfAProjectIsNotCalledUnsharded(t *testing.T) {
	const ns = "yorkie-meta.changes"
	v := webtest.NewStory().With(func(t *topology.Table) {
		meta := t.Collection(ns).Meta
		t.Collections = slices.DeleteFunc(slices.Clone(t.Collections), func(c *topology.Collection) bool { return c.NS == ns })
		ofCluster := meta
		ofCluster.NS = "yorkie-meta.users"
		for _, m := range []topology.Meta{meta, ofCluster} {
			t.Damaged = append(t.Damaged, &topology.Damage{Meta: m, Kind: topology.DamageGap, Since: webtest.Epoch})
		}
	}).View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	project := "/projects/" + v.Dir.All()[0].ID.Hex()
	got := webtest.Decode[api.ProjectDetail](t, s.Do("GET", "/api/v1"+project))
	i := slices.IndexFunc(got.Collections, func(c api.ProjectCollection) bool { return c.NS == ns })
	c := got.Collections[i]
	if !c.Sharded || c.Exact || c.Basis != "unknown" || c.Presence != "exists" || len(c.Shards) > 0 || c.Pin.Can || c.Split.Can {
		t.Errorf("%+v", c)
	}
	const without = "Without " + ns + " and yorkie-meta.users: their routing tables are damaged."
	for path, want := range map[string][]string{
		project:               {"Not known, because the chunks are not: changes."},
		"/projects":           {without},
		"/matrix?by=projects": {without},
		"/shards/shard-rs-1":  {"That is without changes, whose chunks are not known.", without},
	} {
		expect.ContainsAll(t, html.UnescapeString(s.Do("GET", path).Body.String()), want, "%s", path)
	}
}
