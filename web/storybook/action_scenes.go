package storybook

import (
	"net/url"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// actionScenes are forms, plans and runs in every state.
func actionScenes() []webtest.Scene {
	fine := webtest.NewStory().View()
	zoned := webtest.NewStory().With(webtest.Troubled).View()
	project := fine.Dir.All()[3].ID.Hex()
	chunk := answer.ChunkRef(fine.Table.Collection("yorkie-meta.changes"), fine.Table.Collection("yorkie-meta.changes").Chunks.At(2).Min)
	who := func(p auth.Principal) func(*site.Deps) {
		return webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: p})
	}
	over := func(err error) func(*site.Deps) {
		return func(d *site.Deps) {
			who(webtest.Olga)(d)
			a := webtest.CannedActions()
			a.Err = err
			d.Changes.Actions = a
		}
	}
	approval := func(me auth.Principal, state engine.ApprovalState) func(*site.Deps) {
		return func(d *site.Deps) {
			who(me)(d)
			a := webtest.CannedActions()
			a.Approvals = webtest.CannedApprovals(fine, state)
			d.Changes.Actions = a
		}
	}
	p := webtest.CannedActions().PlanList[1]
	changed := &engine.ChangedError{
		Err:         fault.New(fault.Conflict, "The cluster is not as it was when the plan was made. Make the plan again."),
		Differences: p.Steps[0].Needs[len(p.Steps[0].Needs)-1].Against(map[string]string{"shard": "shard-rs-3", "lastmod": "9|0"}),
	}
	blocked := &engine.BlockedError{Err: fault.New(fault.Conflict, "A check blocks this plan."),
		Checks: []actions.Check{{ID: "recipient", Verdict: actions.Block, Text: message.New("recipient.draining",
			"{shard} is draining and takes no chunks.", message.Shard("shard", "shard-rs-1"))}}}
	plan := func(name string) string { return "/plans/" + webtest.RecordID(name) }
	run := func(name string) string { return "/runs/" + webtest.RecordID(name) }
	forms := func(k actions.Kind, pairs ...string) string { return answer.PlanURL(k, pairs...) }
	none := webtest.CannedActions()
	none.RunList = nil
	draining := webtest.NewStory().With(webtest.Draining).View()
	big := func(p auth.Principal) func(*site.Deps) {
		return func(d *site.Deps) {
			who(p)(d)
			d.Changes.Actions = webtest.WithBigRuns(webtest.CannedActions())
		}
	}
	single := webtest.NewStory().With(func(t *topology.Table) { t.Shards = t.Shards[:1] }).View()
	seen := func(name, path string) webtest.Scene {
		return webtest.Scene{Name: name, Path: path, View: fine, Change: who(webtest.Olga)}
	}
	return []webtest.Scene{
		seen("newplan", "/plans/new"),
		seen("newplan-split", forms(actions.Split, "ns", "yorkie-meta.changes", "chunk", chunk)),
		seen("newplan-pin", forms(actions.Pin, "project", project, "db", "yorkie-meta")),
		{Name: "newplan-refused", Path: "/plans", View: fine,
			Change: over(fault.New(fault.NotFound, "The argument \"to\" names the shard %q, which does not exist.", "x")),
			Ask:    post("kind", "move", "ns", "yorkie-meta.changes", "chunk", chunk, "to", "x", "reason", "ticket 4711")},
		seen("newplan-hot", forms(actions.SplitHot, "ns", "yorkie-meta.changes", "chunk", chunk)),
		seen("newplan-hotmany", forms(actions.SplitHot, "ns", "yorkie-meta.changes", "chunks", chunk)),
		seen("plan-hot", plan("hot")), seen("plan-onevalue", plan("onevalue")),
		seen("newplan-range", forms(actions.ZoneSetRange, "ns", "yorkie-meta.documents")),
		seen("newplan-window", forms(actions.BalancerWindow)), seen("plan-split", plan("split")),
		seen("plan-move", plan("move")), seen("plan-pin", plan("pin")), seen("plan-isolate", plan("isolate")),
		seen("plan-blocked", plan("blocked")), seen("plan-expired", plan("late")),
		{Name: "plan-others", Path: plan("move"), View: fine, Change: who(webtest.Anna)},
		{Name: "plan-viewer", Path: plan("move"), View: fine, Change: who(webtest.Vera)},
		seen("plan-ran", plan("done")),
		{Name: "plan-waits", Path: plan("move"), View: fine, Change: approval(webtest.Olga, engine.ApprovalAsked)},
		{Name: "plan-toapprove", Path: plan("move"), View: fine, Change: approval(webtest.Anna, engine.ApprovalAsked)},
		{Name: "plan-approved", Path: plan("move"), View: fine, Change: approval(webtest.Olga, engine.Approved)},
		{Name: "plan-void", Path: plan("move"), View: fine, Change: approval(webtest.Olga, engine.ApprovalVoid)},
		{Name: "runs-waiting", Path: "/runs", View: fine, Change: approval(webtest.Anna, engine.ApprovalAsked)},
		{Name: "plan-changed", Path: plan("move") + "/run", View: fine, Change: over(changed), Ask: post("hash", p.Hash)},
		{Name: "plan-unprocessable", Path: plan("move") + "/run", View: fine, Change: over(blocked), Ask: post("hash", p.Hash)},
		{Name: "plan-misconfirmed", Path: plan("isolate") + "/run", View: fine,
			Change: over(fault.New(fault.Invalid, "The confirmation is not the text that this plan asks for. Nothing was started.")),
			Ask:    post("hash", p.Hash, "confirm", "x")},
		seen("run-running", run("running")), seen("run-waiting", run("waiting")), seen("run-queued", run("queued")),
		seen("run-gaveup", run("gaveup")), seen("run-adapted", run("adapted")),
		seen("run-restoring", run("restoring")), seen("run-held", run("held")), seen("run-unknown", run("unknown")),
		seen("run-succeeded", run("succeeded")), seen("run-failed", run("failed")),
		seen("run-refused", run("refused")), seen("run-stopped", run("stopped")), seen("run-undone", run("undone")),
		{Name: "run-draining", Path: run(webtest.DrainingRun), View: draining, Change: big(webtest.Olga)},
		{Name: "run-resharding", Path: run(webtest.ReshardingRun), View: draining, Change: big(webtest.Olga)},
		{Name: "run-batch", Path: run(webtest.BatchRun), View: draining, Change: big(webtest.Olga)},
		{Name: "run-batchpaused", Path: run(webtest.BatchPausedRun), View: draining, Change: big(webtest.Olga)},
		{Name: "run-batchviewer", Path: run(webtest.BatchPausedRun), View: draining, Change: big(webtest.Vera)},
		{Name: "runs-big", Path: "/runs", View: draining, Change: big(webtest.Olga)},
		{Name: "run-viewer", Path: run("running"), View: fine, Change: who(webtest.Vera)},
		{Name: "run-undorefused", Path: run("succeeded") + "/undo", View: fine,
			Change: over(fault.New(fault.Conflict, "This can no longer be undone: the two parts of a chunk are now on different shards.")),
			Ask:    post("reason", "")},
		seen("runs", "/runs"),
		seen("runs-filtered", "/runs?"+url.Values{"state": {"failed"}, "by": {"user:olga"}}.Encode()),
		{Name: "runs-none", Path: "/runs", View: fine, Change: func(d *site.Deps) { who(webtest.Olga)(d); d.Changes.Actions = none }},
		{Name: "runs-nomatch", Path: "/runs?by=user:nobody", View: fine, Change: who(webtest.Vera)},
		{Name: "zones-operator", Path: "/zones", View: zoned, Change: who(webtest.Olga)},
		{Name: "zones-readonly", Path: "/zones", View: zoned, Change: func(d *site.Deps) {
			who(webtest.Olga)(d)
			webtest.WithDataHeld(store.OwnedByAnother)(d)
		}},
		{Name: "zones-ownergone", Path: "/zones", View: zoned, Change: webtest.WithDataHeld(store.OwnerGone)},
		{Name: "zones-datalost", Path: "/zones", View: zoned, Change: webtest.WithDataHeld(store.Vanished)},
		{Name: "project-single", Path: "/projects/" + project, View: single, Change: who(webtest.Olga)},
		{Name: "overview-off", Path: "/", View: fine, Change: func(d *site.Deps) { d.Changes.Actions = nil }},
	}
}
