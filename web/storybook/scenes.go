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
	at := func(name, path string, v answer.View) webtest.Scene {
		return webtest.Scene{Name: name, Path: path, View: v}
	}
	out := []webtest.Scene{
		at("overview", "/", fine), at("overview-trouble", "/", bad), at("overview-loading", "/", empty),
		at("overview-denied", "/", denied), at("collections-denied", "/collections", denied),
		at("zones-denied", "/zones", denied), at("projects-denied", "/projects", denied),
		at("activity-denied", "/activity", denied), at("shard-denied", "/shards/shard-rs-1", denied),
		at("overview-lost", "/", lost), at("collection-lost", "/collections/yorkie-meta.changes", lost),
		at("zones-loading", "/zones", empty), at("activity-loading", "/activity", empty),
		at("collections-loading", "/collections", empty), at("overview-wide", "/", wide.View()),
		at("overview-moving", "/", moving), at("activity-moving", "/activity", moving),
		at("shard-moving", "/shards/shard-rs-1", moving), at("shard-held", "/shards/shard-rs-1", held),
		at("collection-held", "/collections/yorkie-meta.changes", held), at("advice-held", "/advice", held),
		at("collection-moving", "/collections/yorkie-meta.changes", moving),
		at("chunk-moving", webtest.ChunkPath(moving, "yorkie-meta.changes", 2), moving),
		at("activity-moving-denied", "/activity", movingDenied), at("activity-moving-lost", "/activity", movingLost),
		at("collections", "/collections", fine), at("collections-trouble", "/collections", bad),
		at("shards", "/shards", fine), at("shards-trouble", "/shards", bad),
		at("collection", "/collections/yorkie-meta.changes", fine),
		at("collection-many", "/collections/yorkie-meta.changes?pos=0.5", many.View()),
		at("collection-ranged", "/collections/yorkie-meta.documents", bad),
		at("collection-filtered", "/collections/yorkie-meta.changes?shard=shard-rs-2&key=12", fine),
		at("projects", "/projects", fine), at("projects-none", "/projects?q=nothing+like+it", fine),
		at("projects-loading", "/projects", empty), at("project", "/projects/"+id.Hex(), fine),
		at("shard", "/shards/shard-rs-2", fine), at("chunk", webtest.ChunkPath(fine, "yorkie-meta.changes", 2), fine),
		at("chunk-gone", goneChunk(fine), fine), at("why", "/shards/shard-rs-1/why", fine),
		at("why-trouble", "/shards/shard-rs-1/why", bad),
		at("why-draining", "/shards/shard-rs-2/why?by=documents", bad),
		at("why-denied", "/shards/shard-rs-1/why", denied), at("why-wide", "/shards/shard-rs-12/why", wide.View()),
		at("why-projects", "/shards/shard-rs-1/why?ns=yorkie-meta.clients", fine),
		at("why-chunks", "/shards/shard-rs-1/why?ns=yorkie-meta.changes", many.View()),
		at("why-writes-begin", "/shards/shard-rs-1/why?by=writes", fine),
		at("chunk-trouble", webtest.ChunkPath(bad, "yorkie-meta.documents", 1), bad), at("locate", "/locate", fine),
		at("locate-none", "/locate?q=nobody", fine),
		{Name: "locate-found", Path: "/locate?q=wiki/handbook", View: fine, Found: webtest.FoundDocument(fine)},
		at("layout", "/layout", fine), at("layout-drift", "/layout?layout=yorkie-0.4", fine),
		at("layout-loading", "/layout", empty),
		at("layout-none", "/layout", webtest.NewStory().With(func(t *topology.Table) {
			t.Collections, t.Unsharded = nil, []topology.Namespace{}
		}).View()),
		at("heat-begins", "/heat", fine), at("heat-loading", "/heat", empty), at("zones", "/zones", bad),
		at("zones-none", "/zones", fine), at("activity", "/activity", fine),
		at("activity-failed", "/activity?failed=1", bad), at("activity-time", "/activity?kind=all&last=1d", bad),
		at("activity-time-none", "/activity?from=2020-01-01T00:00&to=2020-01-02T00:00", fine),
		at("help", "/help", fine), at("websockets", "/help/websockets", fine),
		at("playbook", "/help/hot-project", bad), at("playbook-missing", "/help/nope", fine),
		at("runbooks", "/runbooks", fine), at("runbook", "/runbooks/balancer-off", bad),
		at("missing", "/shards/nope", fine),
		at("activity-reasons", "/activity", webtest.NewStory().With(failedMany).View()),
		at("collection-reasons", "/collections/yorkie-meta.documents", webtest.NewStory().With(failedMany).View()),
		at("overview-internal", "/", webtest.NewStory().With(sessionsOnly).View()),
		at("activity-internal", "/activity", webtest.NewStory().With(sessionsOnly).View()),
		at("activity-internal-shown", "/activity?internal=1", webtest.NewStory().With(sessionsOnly).View()),
		at("advice", "/advice", fine), at("advice-trouble", "/advice", bad), at("advice-denied", "/advice", denied),
		at("advice-loading", "/advice", empty), at("alerts-off", "/alerts", fine), at("audit", "/audit", fine),
		at("audit-none", "/audit?by=user:nobody", fine),
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
