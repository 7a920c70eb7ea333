package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// pinnedProject is the canned project at whose keys chunk 3 of the documents begins, pinned and renamed.
func pinnedProject(t *testing.T, name string) (*webtest.Server, answer.View, placement.Project) {
	t.Helper()
	v := webtest.NewStory().View()
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

func TestKeysStandBesideTheNamesOfTheirProjects(t *testing.T) {
	s, _, p := pinnedProject(t, "Vega \u202eBoards")
	for _, path := range pagesWithKeys {
		doc := webtest.ParseHTML(t, s.Do("GET", path).Body.String())
		links := doc.Find(`main a[href="/projects/` + p.ID.Hex() + `"]`)
		named := links.FilterFunction(func(_ int, a *goquery.Selection) bool { return a.Text() == `Vega \u{202e}Boards` })
		if raw := doc.Find("main .range, main .zone, main .k").Text(); named.Length() == 0 || strings.Contains(raw, "\u202e") {
			t.Errorf("%s: %d links, %d with the name", path, links.Length(), named.Length())
		}
	}
	zone := webtest.ParseHTML(t, s.Do("GET", "/zones").Body.String()).Find(".zone").First()
	if zone.AttrOr("title", "") != answer.PinZone(p.ID) || strings.Join(strings.Fields(zone.Text()), " ") != `pin: Vega \u{202e}Boards` {
		t.Errorf("zone %q is shown as %q", zone.AttrOr("title", ""), zone.Text())
	}
	for _, path := range []string{"zones", "collections/yorkie-meta.documents/chunks?limit=1000", "activity/inflight"} {
		body := s.Do("GET", "/api/v1/"+path).Body.String()
		if !strings.Contains(body, `"project":"`+p.ID.Hex()+`","projectName":"Vega`) {
			t.Errorf("%s names no project", path)
		}
	}
	if body := s.Do("GET", "/api/v1/zones").Body.String(); !strings.Contains(body, `"zone":"`+answer.PinZone(p.ID)+`"`) {
		t.Error("JSON does not have the zone's own name")
	}
}

func TestAKeyOfADeletedProjectSaysSo(t *testing.T) {
	s, v, p := pinnedProject(t, "gone")
	var rest []placement.Project
	for _, x := range v.Dir.All() {
		if x.ID != p.ID {
			rest = append(rest, x)
		}
	}
	s.Keeper.Value = placement.NewDirectory(10, v.Dir.Databases(), rest, topology.Health{At: webtest.Epoch})
	for _, path := range []string{"/zones", "/collections/yorkie-meta.documents"} {
		if page := s.Do("GET", path).Body.String(); !strings.Contains(page, "project not in the list") {
			t.Errorf("%s does not say that the project is not in the list", path)
		}
	}
}

// A pin is named by its zone, which whoever sees zones reads anyway; nothing else tells whose a hidden key is.
func TestHiddenKeysHaveNoNamesBesideThem(t *testing.T) {
	s, _, p := pinnedProject(t, "Vega Boards")
	s.Deps.Profile = webtest.NewStory().View().Profile
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
