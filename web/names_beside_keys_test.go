package web_test

import (
	"slices"
	"strings"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// pinnedProject is the canned project at whose keys chunk 3 of the documents begins, pinned and renamed.
func pinnedProject(t *testing.T, name string, shards int) (*webtest.Server, answer.View, placement.Project) {
	t.Helper()
	story := webtest.NewStory()
	story.Shards = shards
	v := story.View()
	c := v.Table.Collection(webtest.DocumentsNS)
	doc := webtest.Must(c.Key.Document(c.Chunks.At(3).Min))
	id := doc.Lookup("project_id").ObjectID()
	projects := slices.Clone(v.Dir.All())
	i := slices.IndexFunc(projects, func(p placement.Project) bool { return p.ID == id })
	projects[i].Name = name
	v.Dir = placement.NewDirectory(9, v.Dir.Databases(), projects, topology.Health{At: webtest.Epoch})
	r := webtest.Must(c.Key.PrefixRange(doc.Lookup("project_id")))
	zone := topology.ZoneRange{NS: c.NS, Zone: answer.PinZone(id), Min: r.Min, Max: c.Chunks.At(3).Max}
	zone.RawMin, zone.RawMax = webtest.Must(c.Key.Document(zone.Min)), webtest.Must(c.Key.Document(zone.Max))
	v.Table.Zones = []topology.ZoneRange{zone}
	v.Table.Shards[0].Zones = []string{zone.Zone}
	v.Table.Moves.List = []topology.InFlight{webtest.FlightOfChunk(v.Table, c.NS, 3, "shard-rs-3")}
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	return s, v, projects[i]
}

// pagesWithKeys are pages that show the bounds of that chunk.
var pagesWithKeys = []string{"/zones", "/collections/yorkie-meta.documents", "/activity", "/"}

// A pin is named by its zone, which whoever sees zones reads anyway; nothing else tells whose a hidden key is.
func TestHiddenKeysHaveNoNamesBesideThem(t *testing.T) {
	s, _, p := pinnedProject(t, "Vega Boards", 3)
	s.Deps.Cluster.Profile = webtest.NewStory().View().Profile
	for role, may := range map[auth.Role]bool{auth.Viewer: false, auth.Support: true} {
		site := seenBy(s, role)
		for _, path := range pagesWithKeys {
			doc := webtest.ParseHTML(t, bodySeen(site, path))
			named := doc.Find(`main .range a[href^="/projects/"], main .k > a[href^="/projects/"]`).Length()
			if may != (named > 0) && path != "/" {
				t.Errorf("%s for %s: %d names beside keys", path, role, named)
			}
		}
		chunks := bodySeen(site, "/api/v1/collections/yorkie-meta.documents/chunks?limit=1000")
		flights := bodySeen(site, "/api/v1/activity/inflight")
		if strings.Contains(chunks, "projectName") != may || strings.Contains(flights, p.ID.Hex()) != may {
			t.Errorf("names in JSON for %s: %s %s", role, chunks[:min(len(chunks), 400)], flights)
		}
		if may == strings.Contains(chunks, shardkey.HiddenText) {
			t.Errorf("the keys for %s are not as the test means them", role)
		}
	}
}
