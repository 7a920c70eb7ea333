package collections_test

import (
	"bytes"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/collections"
	"shardboard/web/webtest"
)

// rekeyed is a table whose database y has the shard keys given: the fields of a
// key in order, the last one hashed where it begins with #; "" is unsharded.
func rekeyed(version string, keys map[string]string) *topology.Table {
	t := &topology.Table{Loaded: true, ServerInfo: topology.ServerInfo{Version: version}, Unsharded: []topology.Namespace{},
		Databases: []topology.Database{{Name: "y", Primary: "shard-rs-1"}},
		Health:    map[topology.Part]topology.Health{topology.PartRouting: {At: webtest.Epoch}, topology.PartCollections: {At: webtest.Epoch}}}
	for name, key := range keys {
		ns := topology.Namespace("y." + name)
		if key == "" {
			t.Unsharded = append(t.Unsharded, ns)
			continue
		}
		var d bson.D
		for field := range strings.FieldsSeq(key) {
			if hashed, ok := strings.CutPrefix(field, "#"); ok {
				d = append(d, bson.E{Key: hashed, Value: "hashed"})
			} else {
				d = append(d, bson.E{Key: field, Value: 1})
			}
		}
		t.Collections = append(t.Collections,
			&topology.Collection{Meta: topology.Meta{NS: ns, Key: webtest.Must(shardkey.ParsePattern(webtest.Must(bson.Marshal(d))))}})
	}
	slices.Sort(t.Unsharded)
	slices.SortFunc(t.Collections, func(a, b *topology.Collection) int { return webtest.CompareText(string(a.NS), string(b.NS)) })
	return t
}

func headKeys(change ...string) map[string]string {
	keys := map[string]string{"documents": "project_id", "clients": "project_id #_id", "schemas": "project_id", "changes": "#doc_id",
		"snapshots": "#doc_id", "snapshot_bodies": "", "versionvectors": "#doc_id", "revisions": "#doc_id", "projects": "", "users": ""}
	for i := 0; i+1 < len(change); i += 2 {
		if keys[change[i]] = change[i+1]; change[i+1] == "-" {
			delete(keys, change[i])
		}
	}
	return keys
}

// lines is a region as a reader has it: one line per block of text.
func lines(s *goquery.Selection) string {
	var out []string
	s.Find("h2, h3, p, tr").Each(func(_ int, b *goquery.Selection) {
		var words []string
		b.Contents().Each(func(_ int, c *goquery.Selection) {
			if goquery.NodeName(c) == "#comment" {
				return
			}
			if text := strings.Join(strings.Fields(c.Text()), " "); text != "" {
				words = append(words, text)
			}
		})
		sep := " "
		if goquery.NodeName(b) == "tr" {
			sep = " | "
		}
		out = append(out, strings.Join(words, sep))
	})
	return strings.Join(out, "\n") + "\n"
}

// TestLayoutPageDescribesDrift compares what the page says of databases that drifted
// with testdata/layout.golden; SHARDBOARD_GOLDEN=1 writes it anew.
func TestLayoutPageDescribesDrift(t *testing.T) {
	unlisted := rekeyed("5.0.7", headKeys("revisions", "-"))
	unlisted.Unsharded = nil
	cases := []struct {
		name  string
		table *topology.Table
		query data.LayoutQuery
	}{
		{"head as it is set up", rekeyed("8.0.12", headKeys()), data.LayoutQuery{}},
		{"the chart's lag, upgraded to head", rekeyed("8.0.12", headKeys("clients", "project_id", "schemas", "")), data.LayoutQuery{}},
		{
			"ranged still, compared with head",
			rekeyed("5.0.7", map[string]string{"documents": "project_id", "clients": "project_id", "changes": "doc_id",
				"snapshots": "doc_id", "syncedseqs": "doc_id", "projects": "", "users": ""}),
			data.LayoutQuery{Layout: "yorkie-head"},
		},
		{"the same on 4.4", rekeyed("4.4.29", map[string]string{"documents": "project_id", "clients": "project_id", "changes": "doc_id",
			"snapshots": "doc_id", "syncedseqs": "doc_id", "projects": "", "users": ""}), data.LayoutQuery{Layout: "yorkie-head"}},
		{"head, compared with an older layout", rekeyed("8.0.12", headKeys()), data.LayoutQuery{Layout: "yorkie-0.6.20"}},
		{
			"revisions of 0.6.39, sharded users, somebody's orders",
			rekeyed("8.0.12", headKeys("revisions", "", "users", "#_id", "orders", "")),
			data.LayoutQuery{},
		},
		{"listing not permitted", unlisted, data.LayoutQuery{}},
		{"versionvectors of 0.5.3", rekeyed("5.0.7", map[string]string{"documents": "project_id", "clients": "project_id", "changes": "doc_id",
			"snapshots": "doc_id", "syncedseqs": "doc_id", "versionvectors": "", "projects": "", "users": ""}), data.LayoutQuery{}},
	}
	var got strings.Builder
	for _, c := range cases {
		list, err := data.Layouts(answer.View{Table: c.table, Now: webtest.Epoch}, profile.Yorkie(), c.query)
		must.Do(t, err)
		var page bytes.Buffer
		must.Do(t, collections.LayoutRegion(api.State{}, "", list.Items).Render(t.Context(), &page))
		got.WriteString("=== " + c.name + "\n" + lines(webtest.ParseHTML(t, page.String()).Find("section.layout")) + "\n")
	}
	const file = "testdata/layout.golden"
	if os.Getenv("SHARDBOARD_GOLDEN") != "" {
		must.Do(t, os.MkdirAll("testdata", 0o755))
		must.Do(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
	want := must.Get(os.ReadFile(file))
	g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		must.That(t, i < len(g) && i < len(w) && g[i] == w[i],
			"line %d differs from %s (SHARDBOARD_GOLDEN=1 writes it anew):\n got %q\nwant %q", i+1, file, at(g, i), at(w, i))
	}
}

func at(list []string, i int) string {
	if i >= len(list) {
		return "(nothing)"
	}
	return list[i]
}

func TestAPILayoutComparesEveryMatchedDatabase(t *testing.T) {
	s := webtest.New(t)
	table := rekeyed("8.0.12", headKeys("clients", "project_id"))
	other := rekeyed("8.0.12", headKeys())
	for _, c := range other.Collections {
		c.NS = "z." + topology.Namespace(c.NS.Collection())
		table.Collections = append(table.Collections, c)
	}
	s.Watcher.Value = table
	got := webtest.Decode[api.List[api.Layout]](t, s.Do("GET", "/api/v1/layout"))
	if len(got.Items) != 2 || got.Items[0].DB != "y" || got.Items[1].DB != "z" || got.Items[0].Looks != 1 || got.Items[1].Looks != 0 {
		t.Fatalf("%+v", got.Items)
	}
	f := got.Items[0].Findings[0]
	expect.That(t, f.Code == "different" && f.NS == "y.clients" && *f.Key == "{project_id: 1}" && f.Look && f.Variant == "chartClients" &&
		f.Fix == "refine" && len(f.Commands) == 2, "%+v", f)
	one := webtest.Decode[api.List[api.Layout]](t, s.Do("GET", "/api/v1/layout?db=z&layout=yorkie-0.4"))
	expect.That(t, len(one.Items) == 1 && one.Items[0].Compared == "yorkie-0.4" && one.Items[0].Nearest == "yorkie-head", "%+v", one.Items)
	for path, want := range map[string]int{"?layout=yorkie-9": http.StatusBadRequest, "?db=nope": http.StatusNotFound,
		"?layout=%FF": http.StatusBadRequest} {
		expect.Equal(t, s.Do("GET", "/api/v1/layout"+path).Code, want, "%s", path)
	}
}
