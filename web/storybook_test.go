package web

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/static"
	"shardboard/web/site"
)

// scene is one page in one state.
type scene struct {
	name, path string
	view       answer.View
	found      []placement.Item
	change     func(*site.Deps)      // of the site; nil for none
	ask        []func(*http.Request) // of the request
}

func scenes() []scene {
	fine, bad := newStory().View(), newStory().with(troubled).View()
	denied := newStory().with(func(t *topology.Table) {
		for _, p := range everyPart() {
			if p != topology.PartRouting && p != topology.PartShards && p != topology.PartDatabases {
				t.Health[p] = topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "find on config." + string(p)}
			}
		}
		t.Events, t.Zones, t.Sizes, t.Unsharded, t.Routers, t.Balancer = nil, nil, nil, nil, nil, topology.Balancer{}
	}).View()
	denied.Dir = placement.NewDirectory(
		1,
		[]string{"yorkie-meta"},
		nil,
		topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "find on yorkie-meta.projects"},
	)
	lost := newStory().with(func(t *topology.Table) {
		for _, p := range everyPart() {
			t.Health[p] = topology.Health{At: epoch.Add(-7 * time.Minute), Err: fault.New(fault.Unavailable, "The cluster does not answer.")}
		}
	}).View()
	empty := answer.View{Now: epoch, Table: &topology.Table{}, Dir: placement.NewDirectory(0, nil, nil, topology.Health{})}
	many := newStory()
	many.chunks = 5000
	wide := newStory()
	wide.shards, wide.chunks = 12, 90
	moving := newStory().with(movingStory).View()
	movingDenied := newStory().with(movingStory).with(func(t *topology.Table) {
		t.Moves.StepsReason, t.Moves.StepsPrivilege = "notPermitted", "inprog on the cluster"
		for i := range t.Moves.List {
			x := &t.Moves.List[i]
			x.Step, x.Steps, x.RecipientStep, x.RecipientSteps, x.By, x.App = 0, 0, 0, 0, "", ""
			x.Copied, x.Left = topology.Figure{Reason: "notPermitted"}, topology.TimeLeft{Reason: "notPermitted"}
		}
	}).View()
	movingLost := newStory().with(movingStory).with(func(t *topology.Table) {
		t.Health[topology.PartMoves] = topology.Health{
			At:  epoch.Add(-time.Minute),
			Err: fault.New(fault.Unavailable, "The cluster does not answer."),
		}
	}).View()
	id := fine.Dir.All()[3].ID
	out := []scene{
		{
			name: "overview",
			path: "/",
			view: fine,
		}, {name: "overview-trouble", path: "/", view: bad}, {name: "overview-loading", path: "/", view: empty},
		{
			name: "overview-denied",
			path: "/",
			view: denied,
		}, {name: "collections-denied", path: "/collections", view: denied}, {name: "zones-denied", path: "/zones", view: denied},
		{
			name: "projects-denied",
			path: "/projects",
			view: denied,
		}, {name: "activity-denied", path: "/activity", view: denied}, {name: "shard-denied", path: "/shards/shard-rs-1", view: denied},
		{name: "overview-lost", path: "/", view: lost}, {name: "collection-lost", path: "/collections/yorkie-meta.changes", view: lost},
		{
			name: "zones-loading",
			path: "/zones",
			view: empty,
		}, {name: "activity-loading", path: "/activity", view: empty}, {name: "collections-loading", path: "/collections", view: empty},
		{name: "overview-wide", path: "/", view: wide.View()},
		{
			name: "overview-moving",
			path: "/",
			view: moving,
		}, {name: "activity-moving", path: "/activity", view: moving}, {name: "shard-moving", path: "/shards/shard-rs-1", view: moving},
		{
			name: "collection-moving",
			path: "/collections/yorkie-meta.changes",
			view: moving,
		}, {name: "chunk-moving", path: chunkPath(moving, "yorkie-meta.changes", 2), view: moving},
		{
			name: "activity-moving-denied",
			path: "/activity",
			view: movingDenied,
		}, {name: "activity-moving-lost", path: "/activity", view: movingLost},
		{name: "collections", path: "/collections", view: fine}, {name: "collections-trouble", path: "/collections", view: bad},
		{
			name: "collection",
			path: "/collections/yorkie-meta.changes",
			view: fine,
		}, {name: "collection-many", path: "/collections/yorkie-meta.changes?pos=0.5", view: many.View()},
		{name: "collection-ranged", path: "/collections/yorkie-meta.documents", view: bad},
		{name: "collection-filtered", path: "/collections/yorkie-meta.changes?shard=shard-rs-2&key=12", view: fine},
		{
			name: "projects",
			path: "/projects",
			view: fine,
		}, {name: "projects-none", path: "/projects?q=nothing+like+it", view: fine}, {name: "projects-loading", path: "/projects", view: empty},
		{name: "project", path: "/projects/" + id.Hex(), view: fine}, {name: "shard", path: "/shards/shard-rs-2", view: fine},
		{
			name: "chunk",
			path: chunkPath(fine, "yorkie-meta.changes", 2),
			view: fine,
		}, {name: "chunk-trouble", path: chunkPath(bad, "yorkie-meta.documents", 1), view: bad},
		{name: "locate", path: "/locate", view: fine}, {name: "locate-none", path: "/locate?q=nobody", view: fine},
		{name: "locate-found", path: "/locate?q=wiki/handbook", view: fine, found: foundDocument(fine)},
		{
			name: "layout",
			path: "/layout",
			view: fine,
		}, {name: "layout-drift", path: "/layout?layout=yorkie-0.4", view: fine}, {name: "layout-loading", path: "/layout", view: empty},
		{
			name: "layout-none",
			path: "/layout",
			view: newStory().with(func(t *topology.Table) { t.Collections, t.Unsharded = nil, []topology.Namespace{} }).View(),
		},
		{name: "heat-begins", path: "/heat", view: fine}, {name: "heat-loading", path: "/heat", view: empty},
		{name: "zones", path: "/zones", view: bad}, {name: "zones-none", path: "/zones", view: fine},
		{
			name: "activity",
			path: "/activity",
			view: fine,
		}, {name: "activity-failed", path: "/activity?failed=1", view: bad}, {name: "missing", path: "/shards/nope", view: fine},
		{
			name: "activity-reasons",
			path: "/activity",
			view: newStory().with(failedMany).View(),
		}, {name: "collection-reasons", path: "/collections/yorkie-meta.documents", view: newStory().with(failedMany).View()},
		{
			name: "overview-internal",
			path: "/",
			view: newStory().with(sessionsOnly).View(),
		}, {name: "activity-internal", path: "/activity", view: newStory().with(sessionsOnly).View()},
		{name: "activity-internal-shown", path: "/activity?internal=1", view: newStory().with(sessionsOnly).View()},
		{
			name: "advice",
			path: "/advice",
			view: fine,
		}, {name: "advice-trouble", path: "/advice", view: bad}, {name: "advice-denied", path: "/advice", view: denied},
		{name: "advice-loading", path: "/advice", view: empty}, {name: "alerts-off", path: "/alerts", view: fine},
		{name: "audit", path: "/audit", view: fine}, {name: "audit-none", path: "/audit?by=user:nobody", view: fine},
	}
	return slices.Concat(out, accountScenes(), actionScenes(), outcomeScenes(), sizeScenes())
}

// movingStory has migrations in every state: by hand, by the balancer, long and
// committed.
func movingStory(t *topology.Table) {
	const ns = "yorkie-meta.changes"
	other := func(of topology.Namespace, i int) string {
		if t.Collection(of).Chunks.Owner(i) == "shard-rs-3" {
			return "shard-rs-2"
		}
		return "shard-rs-3"
	}
	byHand := flightOfChunk(t, ns, 2, other(ns, 2))
	long := flightOfChunk(t, ns, 7, other(ns, 7))
	long.Since, long.By, long.App = epoch.Add(-5*time.Hour), topology.MoveByBalancer, ""
	long.Copied.Value, long.Left = 12_000_000, topology.TimeLeft{Reason: "beyondEstimate"}
	const docs = "yorkie-meta.documents"
	done := flightOfChunk(t, docs, 1, t.Collection(docs).Chunks.Owner(1))
	byHand.Step, byHand.StepInferred = 3, true
	done.From, done.Step = other(docs, 1), 5
	fresh := flightOfChunk(t, docs, 0, other(docs, 0))
	fresh.Since, fresh.Copied, fresh.Left, fresh.Step, fresh.Steps = epoch, topology.Figure{
		Reason: "notLoaded",
	}, topology.TimeLeft{
		Reason: "notLoaded",
	}, 0, 0
	t.Moves.List = []topology.InFlight{long, byHand, done, fresh}
}

func chunkPath(v answer.View, ns topology.Namespace, i int) string {
	c := v.Table.Collection(ns)
	return answer.ChunkURL(ns, answer.ChunkRef(c, c.Chunks.At(i).Min))
}

// foundDocument is a Yorkie document with a place in every collection.
func foundDocument(v answer.View) []placement.Item {
	project := v.Dir.All()[1]
	doc := must(bson.ObjectIDFromHex("6920b0c1d2e3f40516273849"))
	it := placement.Item{Kind: "document", ID: doc.Hex(), Name: "handbook", DB: project.DB, Project: &project}
	for _, c := range v.Table.Collections {
		p := placement.Place{NS: c.NS, Sharded: true, Exact: true, Pattern: c.Key, Exists: "would-be"}
		i := 2 % c.Chunks.Len()
		ch := c.Chunks.At(i)
		p.Shards, p.Min, p.Max, p.Key, p.Version, p.Since = []string{ch.Shard}, ch.Min, ch.Max, ch.Min, ch.Version, ch.Since
		if c.Key.Hashed() == 0 {
			h := int64(-3048436677993134862)
			p.Hash = &h
		}
		if c.NS.Collection() == "documents" {
			p.Exists = "yes"
		}
		if c.NS.Collection() != "clients" && c.NS.Collection() != "schemas" {
			it.Places = append(it.Places, p)
		}
	}
	it.Places = append(
		it.Places,
		placement.Place{NS: "yorkie-meta.snapshot_bodies", Exact: true, Shards: []string{"shard-rs-1"}, Exists: "unknown"},
	)
	return []placement.Item{it}
}

// open asks a scene's page.
func (sc scene) open(t testing.TB) string {
	s := newSite(t, func(d *site.Deps) {
		d.Demo, d.Target, d.Now = true, "mongodb://127.0.0.1:27117", func() time.Time { return sc.view.Now }
		if sc.change != nil {
			sc.change(d)
		}
	})
	s.watcher.value, s.keeper.value = sc.view.Table, sc.view.Dir
	if sc.found != nil {
		s.locator.locate = func(placement.Query) ([]placement.Item, error) { return sc.found, nil }
	}
	return s.do("GET", sc.path, sc.ask...).Body.String()
}

// TestStorybook writes every page in every state to SHARDBOARD_STORYBOOK, to be
// looked at in a browser.
func TestStorybook(t *testing.T) {
	dir := os.Getenv("SHARDBOARD_STORYBOOK")
	if dir == "" {
		t.Skip("SHARDBOARD_STORYBOOK names no folder")
	}
	for _, a := range static.Assets() {
		path := filepath.Join(dir, filepath.FromSlash(a.URL))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, a.Body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, sc := range append(scenes(), bareScenes()...) {
		html := sc.open(t)
		t.Logf("%-22s %6d bytes", sc.name, len(html))
		// Opened from a file, so addresses become relative.
		html = strings.NewReplacer(`href="/static/`, `href="static/`, `src="/static/`, `src="static/`).Replace(html)
		if err := os.WriteFile(filepath.Join(dir, sc.name+".html"), []byte(html), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
