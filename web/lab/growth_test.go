package lab_test

import (
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func serve(t *testing.T, v answer.View, change ...func(*site.Deps)) *webtest.Server {
	t.Helper()
	s := webtest.New(t, append([]func(*site.Deps){func(d *site.Deps) { d.Now = func() time.Time { return v.Now } }}, change...)...)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	return s
}

func predict(t *testing.T, s *webtest.Server, query string) api.LabGrowth {
	t.Helper()
	return webtest.Decode[api.LabGrowth](t, s.Do("GET", "/api/v1/lab/growth?"+query))
}

func TestMovesGroupsAndShardsOfAPredictionAddUp(t *testing.T) {
	s := serve(t, webtest.NewStory().View())
	a := predict(t, s, "add=2&growth=1.5&limit=1000&measure=bytes&group=7")
	must.That(t, len(a.Shards) == 5 && a.Moves != 0 && len(a.Items) == a.Moves && a.Next == "",
		"%d shards, %d of %d moves", len(a.Shards), len(a.Items), a.Moves)
	change, sum := map[string]int64{}, int64(0)
	for i, m := range a.Items {
		expect.That(t, m.Move == i+1 && m.Group == i/7+1 && m.Chunk != "" && m.Bytes.Method == "chunkShare", "move %d: %+v", i+1, m)
		change[m.From] -= *m.Bytes.Value
		change[m.To] += *m.Bytes.Value
		sum += *m.Bytes.Value
	}
	grouped := int64(0)
	for _, g := range a.Groups {
		grouped += g.Bytes
	}
	if sum != *a.Bytes.Value || grouped != sum || a.GroupCount != len(a.Groups) {
		t.Errorf("moves have %d bytes, groups %d, the sum %d", sum, grouped, *a.Bytes.Value)
	}
	for _, x := range a.Shards {
		expect.That(t, *x.After.Value-*x.Before.Value == change[x.Shard] && x.GrownShare != nil, "%+v changes by %d", x, change[x.Shard])
		if want := float64(*x.After.Value) * 2.5; float64(*x.Grown.Value) < want-1 || float64(*x.Grown.Value) > want+1 {
			t.Errorf("%s grows to %d, expected %.0f", x.Shard, *x.Grown.Value, want)
		}
	}
	expect.That(t, len(a.Ways) == 2 && a.Ways[1].Bytes > a.Ways[0].Bytes, "ways: %+v", a.Ways)
}

func TestLinkOfAPredictionReproducesIt(t *testing.T) {
	v := webtest.NewStory().View()
	s := serve(t, v)
	for _, query := range []string{"",
		"add=3&growth=1.5&group=20&pause=90s&perShard=2&rate=20MB&fill=60&capacity=50GB&newCapacity=1TiB&measure=bytes",
		"add=0&empty=shard-rs-3&project=" + v.Dir.All()[0].ID.Hex() + "&factor=3"} {
		a := predict(t, s, query)
		_, rest, _ := strings.Cut(string(a.URL), "?")
		again := predict(t, s, rest)
		for i := range a.Shards { // how the capacity of added shards is known differs: the link has it typed in
			a.Shards[i].Capacity, again.Shards[i].Capacity = api.Figure{}, api.Figure{}
		}
		expect.That(t, again.URL == a.URL && reflect.DeepEqual(again.Shards, a.Shards) && reflect.DeepEqual(again.Items, a.Items) &&
			again.Seconds == a.Seconds, "%s: the link %s leads to another result", query, a.URL)
		for _, name := range []string{"add", "growth", "group", "perShard", "rate", "pause", "fill", "measure"} {
			in, _ := url.ParseQuery(rest)
			expect.That(t, in.Has(name), "%s: the link %s lacks %s", query, a.URL, name)
		}
	}
}

func TestBadInputOfThePlannerIsNamedWithItsLimit(t *testing.T) {
	s := serve(t, webtest.NewStory().View())
	for query, want := range map[string]string{
		"add=257":                            "add must be a number from 0 to 256, not \\\"257\\\"",
		"add=-1":                             "add must be",
		"growth=-1":                          "growth must be a number from 0 to 1000",
		"growth=NaN":                         "growth must be",
		"empty=nowhere":                      "empty: there is no shard",
		"project=atlas":                      "project must be the id",
		"project=" + strings.Repeat("f", 24): "project: there is no project",
		"factor=0.5":                         "factor must be a number from 1 to 1000",
		"group=0":                            "group must be a number from 1 to 1000",
		"perShard=17":                        "perShard must be a number from 1 to 16",
		"rate=fast":                          "rate must be a size from 1 byte",
		"rate=0":                             "rate must be",
		"pause=-1s":                          "pause must be a duration from 0s to 168h",
		"fill=101":                           "fill must be a number from 1 to 100",
		"capacity=9e99TB":                    "capacity must be",
		"newCapacity=1ZB":                    "newCapacity must be",
		"measure=documents":                  "measure must be release, bytes or chunks",
		"cursor=bm9uc2Vuc2U":                 "This cursor is not from this list",
	} {
		for _, path := range []string{"/api/v1/lab/growth?", "/lab/growth?"} {
			w := s.Do("GET", path+query)
			text := strings.ReplaceAll(w.Body.String(), "&#34;", `\"`)
			expect.That(t, w.Code == http.StatusBadRequest && strings.Contains(text, want),
				"%s%s: %d, expected %q in %.300s", path, query, w.Code, want, text)
		}
	}
}

func TestBatchOfAPredictionIsOfferedToWhoMayPlan(t *testing.T) {
	v := webtest.NewStory().View()
	s := serve(t, v)
	doc := s.Page(t, "/lab/growth?add=0&batch=1&group=25&perShard=2")
	form := doc.Find(`form[action="/plans"]`)
	raw, moves := form.Find("textarea").Text(), predict(t, s, "add=0").Moves
	plans, _ := actions.ArgumentNamed("plans")
	if _, err := plans.FromText(raw); err != nil {
		t.Fatalf("%v: %.200s", err, raw)
	}
	args, err := actions.ReadArgs([]byte(`{"plans":` + raw + `}`))
	must.That(t, err == nil && len(args.Plans) == moves && args.Plans[0].Kind == actions.MoveChunk,
		"%d items of %d moves: %v", len(args.Plans), moves, err)
	group, _ := form.Find(`[name="group"]`).Attr("value")
	expect.Equal(t, group, "25", "group")
	text := s.Page(t, "/lab/growth?add=1&batch=1").Find("#batch + p").Text()
	expect.Contains(t, text, "1 shard is not there yet", "shards that do not exist")
	expect.Equal(t, s.Page(t, "/lab/growth?add=0").Find(`a[href*="batch=1"]`).Length(), 1, "the batch is not offered")
	viewer := serve(t, v, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Vera}))
	doc = viewer.Page(t, "/lab/growth?add=0&batch=1")
	expect.That(t, doc.Find("#batch").Length() == 0 && doc.Find("#moves").Length() == 1, "a viewer is offered a batch, or sees no moves")
}

func TestBatchHasTheFirstThousandMovesAndSaysSo(t *testing.T) {
	story := webtest.NewStory()
	story.Chunks = 6000
	s := serve(t, story.View())
	a := predict(t, s, "add=0&empty=shard-rs-1")
	must.That(t, a.Moves > actions.MostItems, "only %d moves", a.Moves)
	doc := s.Page(t, "/lab/growth?add=0&empty=shard-rs-1&batch=1")
	args, err := actions.ReadArgs([]byte(`{"plans":` + doc.Find("textarea").Text() + `}`))
	said := doc.Find("#batch + p").Text()
	if err != nil || len(args.Plans) != actions.MostItems || !strings.Contains(said, "at most "+format.Count(actions.MostItems)+" changes") {
		t.Errorf("%d items, %v: %q", len(args.Plans), err, said)
	}
	w := s.Do("GET", "/lab/growth.csv?add=0&empty=shard-rs-1")
	lines := strings.Count(w.Body.String(), "\n")
	expect.That(t, lines == a.Moves+1, "the CSV has %d lines of %d moves", lines, a.Moves)
	second := predict(t, s, "add=0&empty=shard-rs-1&cursor="+string(a.Next))
	expect.Equal(t, second.Items[0].Move, len(a.Items)+1, "the second page begins with the move")
	doc = s.Page(t, "/lab/growth?add=0&empty=shard-rs-1&cursor="+string(answer.CursorOf("50")))
	expect.Equal(t, doc.Find("#moves ~ .wide table tbody th").First().Text(), "51", "the page begins with the move")
}

func TestUnknownSizesAreSaidAndNotTakenAsZero(t *testing.T) {
	without := func(namespaces ...topology.Namespace) *webtest.Server {
		return serve(t, webtest.NewStory().With(func(t *topology.Table) {
			for _, ns := range namespaces {
				delete(t.Sizes, ns)
			}
			t.Disks = nil
		}).View())
	}
	s := without("yorkie-meta.changes", "yorkie-meta.users")
	a := predict(t, s, "add=1")
	for _, m := range a.Items {
		must.That(t, m.NS != "yorkie-meta.changes", "a chunk moves whose size is not known")
	}
	notes := strings.Join(a.Notes, " ")
	expect.That(t, strings.Contains(notes, "yorkie-meta.changes (not read yet)") &&
		strings.Contains(notes, "The size of 1 collection that is not sharded"), "notes: %s", notes)
	expect.That(t, a.Shards[0].Capacity.Value == nil && a.Shards[0].GrownShare == nil && a.Needed.Shards == nil && a.Ways[0].Fits == nil,
		"the capacity is not known: %+v, %+v", a.Shards[0], a.Needed)
	if b := predict(t, s, "add=1&capacity=1TB"); b.Shards[0].GrownShare == nil || b.Needed.Shards == nil || *b.Needed.Shards != 0 {
		t.Errorf("the capacity was typed in: %+v", b.Needed)
	}
	var all []topology.Namespace
	for ns := range webtest.NewStory().View().Table.Sizes {
		all = append(all, ns)
	}
	doc := without(all...).Page(t, "/lab/growth")
	expect.Equal(t, doc.Find(".state.is-unknown").Length(), 1, "sentences that nothing is known")
	expect.Equal(t, doc.Find("#growth-result").Length(), 0, "results although nothing is known")
}

func TestWhatCannotMoveStaysAndIsListed(t *testing.T) {
	jumbo := 0
	v := webtest.NewStory().With(func(t *topology.Table) {
		c := t.Collection("yorkie-meta.changes")
		var rows []topology.Chunk
		for _, ch := range c.Chunks.All() {
			if ch.Shard == "shard-rs-3" && jumbo < 2 {
				ch.Jumbo = true
				jumbo++
			}
			rows = append(rows, ch)
		}
		c.Chunks = webtest.Must(topology.BuildChunks(c.Key, rows))
		t.Collection("yorkie-meta.snapshots").NoBalance = true
	}).View()
	a := predict(t, serve(t, v), "add=0&empty=shard-rs-3&limit=1000")
	found := map[string]api.LabGrowthStay{}
	for _, x := range a.Stays {
		found[x.NS+" "+x.Shard+" "+x.Reason] = x
	}
	x := found["yorkie-meta.changes shard-rs-3 jumbo"]
	expect.That(t, x.Chunks == jumbo && x.Leave == jumbo && jumbo != 0, "%d jumbo chunks: %+v", jumbo, a.Stays)
	x = found["yorkie-meta.snapshots shard-rs-1 notBalanced"]
	expect.That(t, x.Chunks != 0 && x.Leave == 0, "a collection that is not balanced: %+v", a.Stays)
	for _, m := range a.Items {
		expect.That(t, m.NS != "yorkie-meta.snapshots" && m.To != "shard-rs-3", "%+v", m)
	}
	for _, x := range a.Shards {
		expect.That(t, x.Shard != "shard-rs-3" || x.ChunksAfter == jumbo+found["yorkie-meta.snapshots shard-rs-3 notBalanced"].Chunks,
			"the emptied shard keeps %d chunks", x.ChunksAfter)
	}
}

func TestReleaseDecidesWhatIsMadeEven(t *testing.T) {
	for release, want := range map[string]string{"4.4.29": "chunks", "6.0.2": "chunks", "6.0.3": "bytes", "8.0.4": "bytes", "": "bytes"} {
		s := serve(t, webtest.NewStory().With(func(t *topology.Table) { t.ServerInfo.Version = release }).View())
		a := predict(t, s, "")
		expect.That(t, a.Inputs.Measure == want && a.Inputs.MeasureText != "", "%s: %s, %s", release, a.Inputs.Measure, a.Inputs.MeasureText)
	}
}

func TestPictureOfThePlannerHasARowForEachShard(t *testing.T) {
	s := serve(t, webtest.NewStory().View())
	doc := s.Page(t, "/lab/growth?add=2&growth=1.5&capacity=12GB")
	rows := doc.Find(".growthbars tbody tr")
	expect.That(t, rows.Length() == 5 && rows.Find("rect").Length() == 15 && rows.Find("line.full").Length() == 5,
		"%d rows, %d bars, %d lines", rows.Length(), rows.Find("rect").Length(), rows.Find("line.full").Length())
	d, _ := doc.Find(".growthcurve path").Attr("d")
	expect.That(t, strings.HasPrefix(d, "M0 100V"), "the curve is %q", d)
	many := webtest.NewStory()
	many.Shards, many.Chunks = 100, 400
	doc = serve(t, many.View()).Page(t, "/lab/growth?add="+strconv.Itoa(trying.GrowthMostAdded))
	more := doc.Find(".wide:has(.growthbars) + p").Text()
	n := doc.Find(".growthbars tbody tr").Length()
	expect.That(t, n == 48 && strings.Contains(more, "308 more"), "%d rows of 356: %s", n, more)
}

// The free space of a group is that of the disk, and shards on one disk share it.
func TestFreeSpaceOfAPredictionIsTheDisks(t *testing.T) {
	story := func(hosts ...string) answer.View {
		return webtest.NewStory().With(func(t *topology.Table) {
			for i := range t.Shards {
				t.Shards[i].Hosts = []string{hosts[i%len(hosts)]}
				t.Disks[t.Shards[i].Name] = webtest.DiskOf(400, 480, webtest.Epoch)
			}
		}).View()
	}
	apart := predict(t, serve(t, story("x:1", "y:1", "z:1")), "add=1&measure=bytes")
	shared := predict(t, serve(t, story("m:1", "m:2", "m:3")), "add=1&measure=bytes")
	disk := int64(80) << 30
	per := apart.Inputs.DiskPerByte
	must.That(t, per != nil && *per > 0, "%+v", apart.Inputs)
	for _, g := range apart.Groups {
		expect.That(t, g.Free != nil && *g.Free <= disk && *g.Free >= disk/2, "free of %s: %v, its disk has %d", g.Fullest, g.Free, disk)
	}
	for i, g := range shared.Groups {
		if *g.Free > disk/3+1 || i == 0 && !strings.Contains(strings.Join(shared.Notes, " "), "are on one disk") {
			t.Errorf("free of %s: %d, a third of the disk is %d; %q", g.Fullest, *g.Free, disk/3, shared.Notes)
		}
	}
}
