package storybook

import (
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// Scenes are the pages of a signed-in person, in the states that each has.
func Scenes() []webtest.Scene {
	fine, bad := webtest.NewStory().View(), webtest.NewStory().With(webtest.Troubled).View()
	denied := webtest.NewStory().With(allDenied).View()
	denied.Dir = placement.NewDirectory(
		1,
		[]string{"yorkie-meta"},
		nil,
		topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "find on yorkie-meta.projects"},
	)
	lost := webtest.NewStory().With(func(t *topology.Table) {
		for _, p := range webtest.EveryPart() {
			t.Health[p] = topology.Health{At: webtest.Epoch.Add(-7 * time.Minute), Err: fault.New(fault.Unavailable, "The cluster does not answer.")}
		}
	}).View()
	empty := answer.View{Now: webtest.Epoch, Table: &topology.Table{}, Dir: placement.NewDirectory(0, nil, nil, topology.Health{})}
	many := webtest.NewStory()
	many.Chunks = 5000
	wide := webtest.NewStory()
	wide.Shards, wide.Chunks = 12, 90
	moving := webtest.NewStory().With(movingStory).View()
	movingDenied := webtest.NewStory().With(movingStory).With(func(t *topology.Table) {
		t.Moves.StepsReason, t.Moves.StepsPrivilege = "notPermitted", "inprog on the cluster"
		for i := range t.Moves.List {
			x := &t.Moves.List[i]
			x.Step, x.Steps, x.RecipientStep, x.RecipientSteps, x.By, x.App = 0, 0, 0, 0, "", ""
			x.Copied, x.Left = topology.Figure{Reason: "notPermitted"}, topology.TimeLeft{Reason: "notPermitted"}
		}
	}).View()
	movingLost := webtest.NewStory().With(movingStory).With(func(t *topology.Table) {
		t.Health[topology.PartMoves] = topology.Health{
			At:  webtest.Epoch.Add(-time.Minute),
			Err: fault.New(fault.Unavailable, "The cluster does not answer."),
		}
	}).View()
	held := webtest.NewStory().With(heldStory).View()
	id := fine.Dir.All()[3].ID
	out := []webtest.Scene{
		{
			Name: "overview",
			Path: "/",
			View: fine,
		}, {Name: "overview-trouble", Path: "/", View: bad}, {Name: "overview-loading", Path: "/", View: empty},
		{
			Name: "overview-denied",
			Path: "/",
			View: denied,
		}, {Name: "collections-denied", Path: "/collections", View: denied}, {Name: "zones-denied", Path: "/zones", View: denied},
		{
			Name: "projects-denied",
			Path: "/projects",
			View: denied,
		}, {Name: "activity-denied", Path: "/activity", View: denied}, {Name: "shard-denied", Path: "/shards/shard-rs-1", View: denied},
		{Name: "overview-lost", Path: "/", View: lost}, {Name: "collection-lost", Path: "/collections/yorkie-meta.changes", View: lost},
		{
			Name: "zones-loading",
			Path: "/zones",
			View: empty,
		}, {Name: "activity-loading", Path: "/activity", View: empty}, {Name: "collections-loading", Path: "/collections", View: empty},
		{Name: "overview-wide", Path: "/", View: wide.View()},
		{
			Name: "overview-moving",
			Path: "/",
			View: moving,
		}, {Name: "activity-moving", Path: "/activity", View: moving}, {Name: "shard-moving", Path: "/shards/shard-rs-1", View: moving},
		{Name: "shard-held", Path: "/shards/shard-rs-1", View: held},
		{Name: "collection-held", Path: "/collections/yorkie-meta.changes", View: held}, {Name: "advice-held", Path: "/advice", View: held},
		{
			Name: "collection-moving",
			Path: "/collections/yorkie-meta.changes",
			View: moving,
		}, {Name: "chunk-moving", Path: webtest.ChunkPath(moving, "yorkie-meta.changes", 2), View: moving},
		{
			Name: "activity-moving-denied",
			Path: "/activity",
			View: movingDenied,
		}, {Name: "activity-moving-lost", Path: "/activity", View: movingLost},
		{Name: "collections", Path: "/collections", View: fine}, {Name: "collections-trouble", Path: "/collections", View: bad},
		{Name: "shards", Path: "/shards", View: fine}, {Name: "shards-trouble", Path: "/shards", View: bad},
		{
			Name: "collection",
			Path: "/collections/yorkie-meta.changes",
			View: fine,
		}, {Name: "collection-many", Path: "/collections/yorkie-meta.changes?pos=0.5", View: many.View()},
		{Name: "collection-ranged", Path: "/collections/yorkie-meta.documents", View: bad},
		{Name: "collection-filtered", Path: "/collections/yorkie-meta.changes?shard=shard-rs-2&key=12", View: fine},
		{
			Name: "projects",
			Path: "/projects",
			View: fine,
		}, {Name: "projects-none", Path: "/projects?q=nothing+like+it", View: fine}, {Name: "projects-loading", Path: "/projects", View: empty},
		{Name: "project", Path: "/projects/" + id.Hex(), View: fine}, {Name: "shard", Path: "/shards/shard-rs-2", View: fine},
		{
			Name: "chunk",
			Path: webtest.ChunkPath(fine, "yorkie-meta.changes", 2),
			View: fine,
		}, {Name: "chunk-gone", Path: goneChunk(fine), View: fine},
		{Name: "why", Path: "/shards/shard-rs-1/why", View: fine}, {Name: "why-trouble", Path: "/shards/shard-rs-1/why", View: bad},
		{Name: "why-draining", Path: "/shards/shard-rs-2/why?by=documents", View: bad},
		{Name: "why-denied", Path: "/shards/shard-rs-1/why", View: denied},
		{Name: "why-wide", Path: "/shards/shard-rs-12/why", View: wide.View()},
		{Name: "why-projects", Path: "/shards/shard-rs-1/why?ns=yorkie-meta.clients", View: fine},
		{Name: "why-chunks", Path: "/shards/shard-rs-1/why?ns=yorkie-meta.changes", View: many.View()},
		{Name: "why-writes-begin", Path: "/shards/shard-rs-1/why?by=writes", View: fine},
		{Name: "chunk-trouble", Path: webtest.ChunkPath(bad, "yorkie-meta.documents", 1), View: bad},
		{Name: "locate", Path: "/locate", View: fine}, {Name: "locate-none", Path: "/locate?q=nobody", View: fine},
		{Name: "locate-found", Path: "/locate?q=wiki/handbook", View: fine, Found: webtest.FoundDocument(fine)},
		{
			Name: "layout",
			Path: "/layout",
			View: fine,
		}, {Name: "layout-drift", Path: "/layout?layout=yorkie-0.4", View: fine}, {Name: "layout-loading", Path: "/layout", View: empty},
		{
			Name: "layout-none",
			Path: "/layout",
			View: webtest.NewStory().With(func(t *topology.Table) { t.Collections, t.Unsharded = nil, []topology.Namespace{} }).View(),
		},
		{Name: "heat-begins", Path: "/heat", View: fine}, {Name: "heat-loading", Path: "/heat", View: empty},
		{Name: "zones", Path: "/zones", View: bad}, {Name: "zones-none", Path: "/zones", View: fine},
		{
			Name: "activity",
			Path: "/activity",
			View: fine,
		}, {Name: "activity-failed", Path: "/activity?failed=1", View: bad},
		{Name: "activity-time", Path: "/activity?kind=all&last=1d", View: bad},
		{Name: "activity-time-none", Path: "/activity?from=2020-01-01T00:00&to=2020-01-02T00:00", View: fine},
		{Name: "help", Path: "/help", View: fine}, {Name: "websockets", Path: "/help/websockets", View: fine},
		{Name: "playbook", Path: "/help/hot-project", View: bad},
		{Name: "playbook-missing", Path: "/help/nope", View: fine},
		{Name: "runbooks", Path: "/runbooks", View: fine}, {Name: "runbook", Path: "/runbooks/balancer-off", View: bad},
		{Name: "missing", Path: "/shards/nope", View: fine},
		{
			Name: "activity-reasons",
			Path: "/activity",
			View: webtest.NewStory().With(failedMany).View(),
		}, {Name: "collection-reasons", Path: "/collections/yorkie-meta.documents", View: webtest.NewStory().With(failedMany).View()},
		{
			Name: "overview-internal",
			Path: "/",
			View: webtest.NewStory().With(sessionsOnly).View(),
		}, {Name: "activity-internal", Path: "/activity", View: webtest.NewStory().With(sessionsOnly).View()},
		{Name: "activity-internal-shown", Path: "/activity?internal=1", View: webtest.NewStory().With(sessionsOnly).View()},
		{
			Name: "advice",
			Path: "/advice",
			View: fine,
		}, {Name: "advice-trouble", Path: "/advice", View: bad}, {Name: "advice-denied", Path: "/advice", View: denied},
		{Name: "advice-loading", Path: "/advice", View: empty}, {Name: "alerts-off", Path: "/alerts", View: fine},
		{Name: "audit", Path: "/audit", View: fine}, {Name: "audit-none", Path: "/audit?by=user:nobody", View: fine},
	}
	return slices.Concat(out, mapScenes(fine, bad, moving, denied, lost, empty), AccountScenes(), actionScenes(),
		webtest.OutcomeScenes(), sizeScenes(), heatScenes(fine, lost), incidentScenes(fine), proposalScenes(fine),
		matrixScenes(fine, empty, denied, lost, moving))
}

// heldStory is a shard that cannot delete what has left it, because programs have older cursors open.
func heldStory(t *topology.Table) {
	h := topology.HeldDeletion{NS: "yorkie-meta.changes", Shard: "shard-rs-1", Since: webtest.Epoch.Add(-9 * time.Minute), Count: 3}
	for i, app := range []string{"report-job", webtest.HostileName, "report-job"} {
		h.Cursors = append(h.Cursors, topology.OpenCursor{Shard: h.Shard, NS: h.NS, ID: int64(7000 + i), App: app, Client: "10.0.0.7",
			Opened: webtest.Epoch.Add(time.Duration(i-177) * time.Minute), Session: topology.SessionID{ID: "0123456789abcde" + string(rune('f'+i))}})
	}
	t.Deletions = topology.Deletions{Held: []topology.HeldDeletion{h}, At: webtest.Epoch}
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
	byHand := webtest.FlightOfChunk(t, ns, 2, other(ns, 2))
	long := webtest.FlightOfChunk(t, ns, 7, other(ns, 7))
	long.Since, long.By, long.App = webtest.Epoch.Add(-5*time.Hour), topology.MoveByBalancer, ""
	long.Copied.Value, long.Left = 12_000_000, topology.TimeLeft{Reason: "beyondEstimate"}
	const docs = "yorkie-meta.documents"
	done := webtest.FlightOfChunk(t, docs, 1, t.Collection(docs).Chunks.Owner(1))
	byHand.Step, byHand.StepInferred = 3, true
	done.From, done.Step = other(docs, 1), 5
	fresh := webtest.FlightOfChunk(t, docs, 0, other(docs, 0))
	fresh.Since, fresh.Copied, fresh.Left, fresh.Step, fresh.Steps = webtest.Epoch, topology.Figure{
		Reason: "notLoaded",
	}, topology.TimeLeft{
		Reason: "notLoaded",
	}, 0, 0
	t.Moves.List = []topology.InFlight{long, byHand, done, fresh}
}

// goneChunk is the address of a chunk of changes that there is not.
func goneChunk(v answer.View) string {
	c := v.Table.Collection("yorkie-meta.changes")
	doc := webtest.Must(bson.Marshal(bson.D{{Key: "doc_id", Value: int64(12345)}}))
	return answer.ChunkURL(c.NS, webtest.Must(c.ExactRef(webtest.Must(c.Key.Bound(doc)))))
}
