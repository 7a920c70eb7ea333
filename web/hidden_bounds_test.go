package web_test

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
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
	s.Deps.Problems.Advice = rules.NewAdvisor(
		rules.Sources{Tables: s.Watcher, Directories: s.Keeper, Profile: s.Deps.Cluster.Profile, Heat: s.Deps.Measured.Heat, Now: s.Deps.Now},
	)
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
		if !seen {
			t.Error("no alert of moves that fail, or it has another id than its problem")
		}
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
	got := answer.HideInMessage(
		message.New("split.at", "Split the chunk {min} → {max} of {ns} on {shard} at {at}.",
			message.Key("min", "{a: 1}"), message.Key("max", "{a: 2}"), message.Key("at", "{a: 1.5}"),
			message.Namespace("ns", "app.things"), message.Shard("shard", "s1")),
	).String()
	if strings.Contains(got, "a: 1") || strings.Contains(got, "needs the role") || strings.Count(got, "(hidden)") < 2 ||
		!strings.Contains(got, "app.things") {
		t.Error(got)
	}
}
