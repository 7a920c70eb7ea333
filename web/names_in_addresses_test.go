package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// hardNames are names of 1 to 255 bytes that mean something in an address, or that something may cut or change.
func hardNames() (out []string) {
	out = append(out, ".", "..", "~.", "~..", "~~.", "...", "a/b", "/", "//", "a//b", "../x", "%2F", "%", "%zz", "%2e", "a?b#c", "a,b", "a@1",
		"a b", ".csv", "x.csv", "x.json", "x.csv.csv", "why", "map", "+", ";", "&at=x", "?format=csv", "{name}", "*", " ", " x ", "\x01", "\x7f",
		"\u2028", "\u202e", "\ufeff", "\ufffd", "名前", "🚀", "e\u0301", "\r\nX: y", "<script>", `"'`)
	return append(out, strings.Repeat("h", 255), strings.Repeat("/", 255), strings.Repeat("%", 255), strings.Repeat(".", 255),
		strings.Repeat("é", 127), strings.Repeat("🚀", 63), strings.Repeat("\x01", 255))
}

// eachByte are names of one character: all of one byte, printable or not, and the next ones.
func eachByte() (out []string) {
	for c := rune(1); c < 0x100; c++ {
		out = append(out, string(c))
	}
	return out
}

// nsOf is a collection's namespace of at most 255 bytes.
func nsOf(name string) topology.Namespace {
	return topology.Namespace("d." + strings.ToValidUTF8(name[:min(len(name), 253)], ""))
}

// asBrowsersSend tells whether browsers send a path as it is: escaped dots are steps to them too.
func asBrowsersSend(path string) bool {
	return !slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		part = strings.ReplaceAll(strings.ToLower(part), "%2e", ".")
		return part == "." || part == ".."
	})
}

func TestEveryNameHasItsAddresses(t *testing.T) {
	for _, x := range []struct {
		kind  string
		names []string
		where []string // nil: all
	}{
		{"hard", hardNames(), nil},
		{"each byte", eachByte(), []string{"/api/v1/shards/{name}", "/api/v1/collections/{ns}"}},
	} {
		t.Run(x.kind, func(t *testing.T) { tryNames(t, x.names, x.where) })
	}
}

// tryNames opens every address of shards and collections with these names.
func tryNames(t *testing.T, names, where []string) {
	s := webtest.New(t, webtest.WithHistory(t))
	table := *s.Watcher.Get()
	key := routing.Pattern("k")
	table.Databases = append(table.Databases, topology.Database{Name: "d", Primary: "shard-rs-1"})
	for _, name := range names {
		table.Shards = append(table.Shards, topology.Shard{Name: name, Hosts: []string{"h:1"}})
		c := routing.Collection(nsOf(name), key, routing.Bounds(key, int64(1)), "shard-rs-1")
		table.Collections = append(table.Collections, c)
	}
	slices.SortFunc(table.Shards, func(a, b topology.Shard) int { return natural.Compare(a.Name, b.Name) })
	slices.SortFunc(table.Collections, func(a, b *topology.Collection) int { return strings.Compare(string(a.NS), string(b.NS)) })
	table.Seq++
	s.Watcher.Publish(&table)
	for _, rt := range web.Routes() {
		ofShard, ofNS := strings.Contains(rt.Pattern, "/shards/{name}"), strings.Contains(rt.Pattern, "{ns}")
		if rt.Method != http.MethodGet || !ofShard && !ofNS || where != nil && !slices.Contains(where, rt.Pattern) {
			continue
		}
		for _, name := range names {
			address, as := rt.Pattern, name
			if ofNS {
				as = string(nsOf(name))
				address = strings.Replace(address, "/collections/{ns}", answer.CollectionURL(topology.Namespace(as)), 1)
				address = strings.Replace(address, "{ns}", answer.PathPart(as), 1)
				c := table.Collection(topology.Namespace(as))
				address = strings.Replace(address, "{ref}", c.Ref(c.Chunks.At(1).Min), 1)
			} else {
				address = strings.Replace(address, "/shards/{name}", answer.ShardURL(name), 1)
			}
			if strings.HasSuffix(rt.Pattern, "/tile") {
				address += "?from=0&count=1"
			}
			w := s.Do("GET", address)
			media, want := w.Header().Get("Content-Type"), slices.Concat(rt.Types, []string{site.MediaJSON})[0]
			if w.Code != http.StatusOK || !asBrowsersSend(address) || !strings.HasPrefix(media, want) {
				t.Errorf("%.120q of %s: %d %s %.200s", name, rt.Pattern, w.Code, media, w.Body)
				break
			}
			if rt.Pattern == "/api/v1/shards/{name}" || rt.Pattern == "/api/v1/collections/{ns}" {
				got := webtest.Decode[struct{ Name, NS string }](t, w)
				expect.Equal(t, got.Name+got.NS, as, "%q is answered with %q", as, got)
			}
		}
	}
}

// A chunk has an address however long its lower bound is, in lists too, and one that earlier releases gave it.
func TestAChunkOfALongBoundHasItsAddresses(t *testing.T) {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	key := routing.Pattern("url")
	bounds := []string{"a", strings.Repeat("b", 340), strings.Repeat("h", 400), strings.Repeat("h", 60<<10), strings.Repeat("i", 1<<20), "j"}
	c := routing.Collection("app.url", key, routing.Bounds(key, bounds...), "shard-rs-1", "shard-rs-2")
	table.Collections, table.Seq = append(table.Collections[:0:0], c), table.Seq+1
	s.Watcher.Publish(&table)
	for i, ch := range c.Chunks.All() {
		page := answer.ChunkURL(c.NS, answer.ChunkRef(c, ch.Min))
		for _, address := range []string{page, "/api/v1" + page + "/why", "/api/v1" + page + "/around", "/api/v1" + page + "/size",
			"/?watch=" + url.QueryEscape(changing.ChunkItem(c, ch.Min)),
			answer.PlanURL("split", "ns", "app.url", "chunk", answer.ChunkRef(c, ch.Min))} {
			w := s.Do("GET", address)
			expect.That(t, w.Code == http.StatusOK && len(address) <= 1000, "chunk %d at %.200s: %d %.200s", i, address, w.Code, w.Body)
		}
	}
	old, err := c.ExactRef(c.Chunks.At(1).Min)
	must.Do(t, err)
	expect.Equal(t, s.Do("GET", "/collections/app.url/chunks/"+old).Code, http.StatusOK, "an old address")
	cursor := ""
	for i, ch := range c.Chunks.All() {
		w := s.Do("GET", "/api/v1/collections/app.url/chunks?limit=1&cursor="+url.QueryEscape(cursor))
		list := webtest.Decode[api.List[api.Chunk]](t, w)
		must.That(t, len(list.Items) == 1 && list.Items[0].Ref == answer.ChunkRef(c, ch.Min) && len(list.Next) <= 1000,
			"page %d: %d, %d chunks, next of %d bytes", i, w.Code, len(list.Items), len(list.Next))
		cursor = string(list.Next)
	}
	// The chunk at which the list goes on was merged away meanwhile: its bound is not in the cursor, its place is.
	merged := *c
	merged.Chunks = routing.Chunks(key, routing.Bounds(key, "a", strings.Repeat("b", 340), "j"), "shard-rs-1", "shard-rs-2")
	next := table
	next.Collections, next.Seq = []*topology.Collection{&merged}, table.Seq+1
	s.Watcher.Publish(&next)
	w := s.Do("GET", "/api/v1/collections/app.url/chunks?limit=1&cursor="+url.QueryEscape(c.Ref(c.Chunks.At(3).Min)+"~3"))
	if list := webtest.Decode[api.List[api.Chunk]](t, w); len(list.Items) != 1 || list.Items[0].Ref != merged.Ref(merged.Chunks.At(3).Min) {
		t.Errorf("a cursor to a merged chunk: %d %v", w.Code, list.Items)
	}
	expect.Equal(t, cursor, "", "where the list goes on")
}

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
			expect.That(t, may == (named > 0) || path == "/", "%s for %s: %d names beside keys", path, role, named)
		}
		chunks := bodySeen(site, "/api/v1/collections/yorkie-meta.documents/chunks?limit=1000")
		flights := bodySeen(site, "/api/v1/activity/inflight")
		expect.That(t, strings.Contains(chunks, "projectName") == may && strings.Contains(flights, p.ID.Hex()) == may,
			"names in JSON for %s: %s %s", role, chunks[:min(len(chunks), 400)], flights)
		expect.That(t, may != strings.Contains(chunks, shardkey.HiddenText), "the keys for %s are not as the test means them", role)
	}
}
