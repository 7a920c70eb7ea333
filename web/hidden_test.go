package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// TestLiveRegionsAreDrawnOncePerClass: however many browsers look, a region is
// drawn once for operators and once for those who do not see servers' texts.
func TestLiveRegionsAreDrawnOncePerClass(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		next := webtest.CannedTable(7, 250)
		next.Events = failedWith(next.Events, "ConflictingOperationInProgress: see the log of host-canary")
		l.Watcher.Publish(next)
		var whole, brief []*webtest.Browser
		for range 4 {
			for _, who := range []string{"anna admin", "olga operator", "vera viewer", "sven support"} {
				b, res := l.OpenAs(who, "t=activity")
				must.That(t, b != nil, "%v %v", who, res)
				if strings.HasSuffix(who, "admin") || strings.HasSuffix(who, "operator") {
					whole = append(whole, b)
				} else {
					brief = append(brief, b)
				}
			}
		}
		if text := l.Do("GET", "/metrics", webtest.As("anna", auth.Admin)).Body.String(); !strings.Contains(text,
			"\nshardboard_live_renders_total 2\n") {
			_, at, _ := strings.Cut(text, "\nshardboard_live_renders_total")
			t.Errorf("drawn %.4s times for two classes", at)
		}
		for i := range whole {
			w, b := whole[i].Last(t), brief[i].Last(t)
			if !strings.Contains(w.HTML, "host-canary") || strings.Contains(b.HTML, "host-canary") || !strings.Contains(b.HTML, "role operator") ||
				w.V == b.V {
				t.Errorf("operators are sent version %d, viewers %d with the text: %v, %v", w.V, b.V,
					strings.Contains(w.HTML, "host-canary"), strings.Contains(b.HTML, "host-canary"))
				return
			}
		}
	}, webtest.WithPeople)
}

// failedWith is a log with one move that failed with a text before the rest.
func failedWith(events []topology.Event, text string) []topology.Event {
	doc := webtest.Must(bson.Marshal(bson.D{{Key: "min", Value: bson.D{{Key: "x", Value: 1}}},
		{Key: "max", Value: bson.D{{Key: "x", Value: 2}}}, {Key: "from", Value: "shard-rs-1"},
		{Key: "to", Value: "shard-rs-2"}, {Key: "errmsg", Value: text}}))
	return append(
		[]topology.Event{{ID: "failed", Time: webtest.Epoch, What: "moveChunk.error", NS: "app.things", Shard: "shard-rs-1", Details: doc}},
		events...)
}

// TestETagsOfRolesDiffer: an ETag is of one class, that of a page of one person.
func TestETagsOfRolesDiffer(t *testing.T) {
	s := webtest.New(t, webtest.WithPeople)
	for _, path := range []string{"/api/v1/activity", "/activity"} {
		tag := s.Do("GET", path, webtest.As("olga", auth.Operator)).Header().Get("ETag")
		same := map[bool]int{false: http.StatusOK, true: http.StatusNotModified}[path != "/activity"] // a page is of one person
		for who, want := range map[string]int{"viewer": http.StatusOK, "support": http.StatusOK, "operator": same, "admin": same} {
			w := s.Do("GET", path, webtest.As("x", auth.Role(who)), webtest.Header("If-None-Match", tag))
			expect.That(t, tag != "" && w.Code == want, "%s: an operator's tag %q gives %s %d, want %d", path, tag, who, w.Code, want)
		}
	}
}

// TestViewersSeeBoundsWithoutTheFlag, which are key values: docs say so.
func TestViewersSeeBoundsWithoutTheFlag(t *testing.T) {
	s := webtest.New(t, webtest.WithPeople)
	c := s.Watcher.Table().Collection(webtest.DocumentsNS)
	min := c.Chunks.At(1).Min
	for path, want := range map[string]string{"/collections/" + string(webtest.DocumentsNS): answer.BoundText(c.Key, min),
		"/api/v1/collections/" + string(webtest.DocumentsNS) + "/chunks": answer.ChunkRef(c, min)} {
		body := s.Do("GET", path, webtest.As("vera", auth.Viewer)).Body.String()
		expect.That(t, strings.Contains(body, want) && !strings.Contains(body, "hidden: needs"), "%s lacks %q", path, want)
	}
}

// seenBy is the site as somebody with a role sees it who is shown as little as
// the flag allows.
func seenBy(s *webtest.Server, role auth.Role) *site.Site {
	deps := s.Deps
	deps.Cluster.HideBounds, deps.Metrics.Registry, deps.Changes.PlanForms = true, nil, true
	who := auth.Principal{ID: "user:" + string(role), Name: string(role), Role: role, Method: auth.ByPassword}
	deps.Access.Auth = webtest.OnePerson{Who: who}
	return web.New(deps).Site
}

func bodySeen(s *site.Site, target string) string {
	r := httptest.NewRequest("GET", target, nil)
	r.Host = "localhost:8090"
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w.Body.String()
}

// boundTexts are the spellings of all bounds of a table that pages use: as tables,
// sentences, JSON and addresses write them, and plain hashes of them. Left out is
// what is no key value, or is a project's id, which viewers see as such.
func boundTexts(v answer.View) (out []string) {
	add := func(c *topology.Collection, k shardkey.Key) {
		text := answer.BoundText(c.Key, k)
		if k.Compare(c.Key.Min()) == 0 || k.Compare(c.Key.Max()) == 0 || strings.Contains(text, "MinKey") {
			return
		}
		for _, p := range v.Dir.All() {
			if text == p.ID.Hex() {
				return
			}
		}
		quoted, _ := json.Marshal(c.Key.ExtJSON(k)) // a string
		out = append(out, text, c.Key.Display(k), c.Key.ExtJSON(k), strings.Trim(string(quoted), `"`),
			answer.WithinCollection(answer.ChunkRef(c, k)), answer.ChunkKey(c.Key, k), answer.ChunkName(c, k))
	}
	for _, c := range v.Table.Collections {
		for _, ch := range c.Chunks.All() {
			add(c, ch.Min)
		}
	}
	for _, z := range v.Table.Zones {
		if c := v.Table.Collection(z.NS); c != nil && !z.Min.IsZero() {
			add(c, z.Min)
			add(c, z.Max)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hiddenPaths are the addresses that the program-wide test finds nothing at: they
// need writes that were counted, problems with chunks, and moves under way.
func hiddenPaths(project string) []string {
	return []string{
		"/projects/" + project, "/api/v1/projects/" + project, "/api/v1/projects/" + project + "/why", "/", "/heat",
		"/heat?ns=yorkie-meta.changes&by=key", "/heat?by=project",
		"/heat?by=project&from=2000-01-01T00:00:00Z&to=2000-01-01T00:04:00Z&rows=" + project,
		"/api/v1/heat/chunks?limit=1000", "/api/v1/heat/map", "/api/v1/heat/range", "/api/v1/heat/documents",
		"/advice", "/api/v1/advice", "/activity", "/activity?last=7d&kind=all",
		"/activity?from=2000-01-01T00:00&to=2100-01-01T00:00", "/api/v1/activity?from=2000-01-01T00:00&limit=1000",
		"/api/v1/activity/histogram?from=2000-01-01T00:00", "/api/v1/activity/inflight",
		"/collections/yorkie-meta.changes", "/collections/yorkie-meta.changes?sort=heat",
		"/api/v1/collections/yorkie-meta.changes/chunks?limit=1000", "/collections/" + string(webtest.DocumentsNS),
		"/api/v1/collections/" + string(webtest.DocumentsNS) + "/map?level=0&index=0", "/zones", "/matrix",
		"/matrix?by=projects&measure=writes", "/matrix?measure=reads", "/api/v1/matrix?by=projects&limit=1000", "/map",
		"/map?ns=yorkie-meta.changes", "/map?ns=yorkie-meta.documents&by=age", "/api/v1/map",
		"/api/v1/map/yorkie-meta.changes/tile", "/api/v1/map/yorkie-meta.documents/tile",
		"/api/v1/map/yorkie-meta.documents/chunk?position=2", "/api/v1/map/yorkie-meta.changes/chunk?position=2",
		"/projects", "/shards/shard-rs-1", "/shards/shard-rs-1/why",
		"/shards/shard-rs-1/why?by=writes&ns=yorkie-meta.changes",
		"/api/v1/shards/shard-rs-1/why?ns=yorkie-meta.changes",
		"/shards/shard-rs-1/why?ns=yorkie-meta.documents&project=several",
		"/shards/shard-rs-1/why?by=writes&ns=yorkie-meta.changes&project=" + project,
	}
}

const serverSaid = "ConflictingOperationInProgress: see the log of host-3"

// chunkTrouble is a state in which rules find jumbo and hot chunks, with a chunk
// that moves.
func chunkTrouble(t *testing.T) (*webtest.Server, answer.View) {
	t.Helper()
	story := webtest.NewStory().With(func(t *topology.Table) {
		c := t.Collection(webtest.DocumentsNS)
		row := c.Chunks.At(2)
		row.Jumbo = true
		chunks, _ := c.Chunks.Reflag([]topology.Chunk{row})
		for i, o := range t.Collections {
			if o.NS == webtest.DocumentsNS {
				t.Collections[i] = &topology.Collection{Meta: o.Meta, Highest: o.Highest, Chunks: chunks}
			}
		}
		t.Events = slices.Clone(t.Events)
		for i, e := range t.Events {
			var details bson.D
			if e.What == "moveChunk.error" && bson.Unmarshal(e.Details, &details) == nil {
				t.Events[i].Details = webtest.Must(bson.Marshal(append(details, bson.E{Key: "errmsg", Value: serverSaid})))
			}
		}
		t.Moves.List = []topology.InFlight{webtest.FlightOfChunk(t, webtest.ChangesNS, 4, "shard-rs-2")}
	})
	v := story.View()
	busy := &webtest.Writes{} // one project, and many of its documents alike
	for i := range 40 {
		busy.Rows = append(busy.Rows, heat.Count{Project: v.Dir.All()[3].ID, Document: webtest.ProjectID(1000 + 977*i), Rows: 40})
	}
	s := webtest.NewHeatServer(t, v, busy, 4*time.Minute+5*time.Second, nil)
	s.Deps.Problems.Advice = rules.NewAdvisor(rules.Sources{Tables: s.Watcher, Directories: s.Keeper,
		Profile: s.Deps.Cluster.Profile, Heat: s.Deps.Measured.Heat, Now: s.Deps.Now})
	return s, v
}

// TestAlertsHaveNoServersText: nobody knows what the readers of a channel may see.
func TestAlertsHaveNoServersText(t *testing.T) {
	s, _ := chunkTrouble(t)
	for _, hide := range []bool{true, false} {
		observed, err := problems.AlertSource(s.Deps.Problems.Advice, hide)(t.Context())
		must.Do(t, err)
		seen := false
		for _, p := range problems.Problems(s.View()).Items {
			reason := p.Text.Args()["reason"]
			for _, n := range observed.Notices {
				if n.ID != p.ID || p.Rule != rules.MigrationsFailing {
					continue
				}
				seen = true
				if !strings.Contains(reason, "host-3") || strings.Contains(n.Title+n.Text, "host-3") || !strings.Contains(n.Title, "role operator") {
					t.Errorf("of %q an alert says %q %q", reason, n.Title, n.Text)
				}
			}
		}
		expect.That(t, seen, "no alert of moves that fail, or it has another id than its problem")
	}
}

// What would be refused is not offered.
func TestChunksAreFilteredByBoundOnlyWhereBoundsAreShown(t *testing.T) {
	s := webtest.New(t)
	for role, want := range map[auth.Role]bool{auth.Viewer: false, auth.Support: true} {
		body := bodySeen(seenBy(s, role), "/collections/"+string(webtest.DocumentsNS))
		for _, field := range []string{`<input name="q"`, `<input name="key"`} {
			expect.Equal(t, strings.Contains(body, field), want, "%s: there is %s", role, field)
		}
	}
}

// A sentence with hidden bounds is one that people can read.
func TestSentencesWithHiddenBoundsStayShort(t *testing.T) {
	got := answer.HideInMessage(message.New("split.at", "Split the chunk {min} → {max} of {ns} on {shard} at {at}.",
		message.Key("min", "{a: 1}"), message.Key("max", "{a: 2}"), message.Key("at", "{a: 1.5}"),
		message.Namespace("ns", "app.things"), message.Shard("shard", "s1"))).String()
	if strings.Contains(got, "a: 1") || strings.Contains(got, "needs the role") || strings.Count(got, "(hidden)") < 2 ||
		!strings.Contains(got, "app.things") {
		t.Error(got)
	}
}

func TestViewerSelectsInTheHeatMapWithoutSeeingBounds(t *testing.T) {
	s, v := chunkTrouble(t)
	pictureOf := func(role auth.Role) (m api.HeatMap) {
		must.Do(t, json.Unmarshal([]byte(bodySeen(seenBy(s, role), "/api/v1/heat/map")), &m))
		return m
	}
	m := pictureOf(auth.Viewer)
	own := map[string]bool{}
	for _, r := range pictureOf(auth.Support).Rows {
		own[r.Key] = true
	}
	for _, r := range m.Rows {
		expect.That(t, !own[r.Key], "the key %q of a row is the same for those who see its bound, so a guess can be checked", r.Key)
	}
	last := m.Columns[len(m.Columns)-1]
	q := url.Values{"rows": {m.Rows[0].Key + "," + m.Rows[len(m.Rows)-1].Key}, "from": {m.Columns[0].From.Format("2006-01-02T15:04:05Z")},
		"to": {last.From.Add(heat.Tick).Format("2006-01-02T15:04:05Z")}}
	body := bodySeen(seenBy(s, auth.Viewer), "/heat?"+q.Encode())
	expect.LacksAll(t, body, boundTexts(v), "the selection shows a viewer")
	expect.That(t, strings.Contains(body, "of all counted in the collection") && !strings.Contains(body, `href=""`),
		"the selection of a viewer: %.2000s", body[max(strings.Index(body, `id="heat-selection"`), 0):])
}
