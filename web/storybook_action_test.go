package web

import (
	"net/http"
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
)

// actionScenes are forms, plans and runs in every state.
func actionScenes() []scene {
	fine := newStory().View()
	zoned := newStory().with(troubled).View()
	project := fine.Dir.All()[3].ID.Hex()
	chunk := answer.ChunkRef(fine.Table.Collection("yorkie-meta.changes"), fine.Table.Collection("yorkie-meta.changes").Chunks.At(2).Min)
	who := func(p auth.Principal) func(*site.Deps) { return playing(cast{mode: "local", me: p}) }
	over := func(err error) func(*site.Deps) {
		return func(d *site.Deps) {
			who(olga)(d)
			a := cannedActions()
			a.err = err
			d.Actions = a
		}
	}
	post := func(pairs ...string) []func(*http.Request) {
		return []func(*http.Request){func(r *http.Request) { r.Method = "POST" }, formOf(pairs...)}
	}
	p := cannedActions().plans[1]
	changed := &engine.ChangedError{
		Err:         fault.New(fault.Conflict, "The cluster is not as it was when the plan was made. Make the plan again."),
		Differences: p.Steps[0].Needs[len(p.Steps[0].Needs)-1].Against(map[string]string{"shard": "shard-rs-3", "lastmod": "9|0"}),
	}
	blocked := &engine.BlockedError{Err: fault.New(fault.Conflict, "A check blocks this plan."),
		Checks: []actions.Check{{ID: "recipient", Verdict: actions.Block, Text: message.New("recipient.draining",
			"{shard} is draining and takes no chunks.", message.Shard("shard", "shard-rs-1"))}}}
	plan := func(name string) string { return "/plans/" + recordNamed(name) }
	run := func(name string) string { return "/runs/" + recordNamed(name) }
	forms := func(k actions.Kind, pairs ...string) string { return answer.PlanURL(k, pairs...) }
	none := cannedActions()
	none.runs = nil
	single := newStory().with(func(t *topology.Table) { t.Shards = t.Shards[:1] }).View()
	return []scene{
		{name: "newplan", path: "/plans/new", view: fine, change: who(olga)},
		{name: "newplan-split", path: forms(actions.Split, "ns", "yorkie-meta.changes", "chunk", chunk), view: fine, change: who(olga)},
		{name: "newplan-pin", path: forms(actions.Pin, "project", project, "db", "yorkie-meta"), view: fine, change: who(olga)},
		{name: "newplan-move", path: forms(actions.MoveChunk, "ns", "yorkie-meta.changes", "chunk", chunk), view: fine, change: who(olga)},
		{name: "newplan-hot", path: forms(actions.SplitHot, "ns", "yorkie-meta.changes", "chunk", chunk), view: fine, change: who(olga)},
		{name: "newplan-hotmany", path: forms(actions.SplitHot, "ns", "yorkie-meta.changes", "chunks", chunk), view: fine, change: who(olga)},
		{name: "plan-hot", path: plan("hot"), view: fine, change: who(olga)},
		{name: "plan-onevalue", path: plan("onevalue"), view: fine, change: who(olga)},
		{name: "newplan-range", path: forms(actions.ZoneSetRange, "ns", "yorkie-meta.documents"), view: fine, change: who(olga)},
		{name: "newplan-window", path: forms(actions.BalancerWindow), view: fine, change: who(olga)},
		{
			name:   "newplan-refused",
			path:   "/plans",
			view:   fine,
			change: over(fault.New(fault.NotFound, "The argument \"to\" names the shard %q, which does not exist.", "x")),
			ask:    post("kind", "move", "ns", "yorkie-meta.changes", "chunk", chunk, "to", "x", "reason", "ticket 4711"),
		},
		{name: "plan-split", path: plan("split"), view: fine, change: who(olga)},
		{name: "plan-move", path: plan("move"), view: fine, change: who(olga)},
		{name: "plan-pin", path: plan("pin"), view: fine, change: who(olga)},
		{name: "plan-isolate", path: plan("isolate"), view: fine, change: who(olga)},
		{name: "plan-blocked", path: plan("blocked"), view: fine, change: who(olga)},
		{name: "plan-expired", path: plan("late"), view: fine, change: who(olga)},
		{name: "plan-others", path: plan("move"), view: fine, change: who(anna)},
		{name: "plan-viewer", path: plan("move"), view: fine, change: who(vera)},
		{name: "plan-ran", path: plan("done"), view: fine, change: who(olga)},
		{name: "plan-changed", path: plan("move") + "/run", view: fine, change: over(changed), ask: post("hash", p.Hash)},
		{name: "plan-unprocessable", path: plan("move") + "/run", view: fine, change: over(blocked), ask: post("hash", p.Hash)},
		{
			name:   "plan-misconfirmed",
			path:   plan("isolate") + "/run",
			view:   fine,
			change: over(fault.New(fault.Invalid, "The confirmation is not the text that this plan wants typed. Nothing was started.")),
			ask:    post("hash", p.Hash, "confirm", "x"),
		},
		{name: "run-running", path: run("running"), view: fine, change: who(olga)},
		{name: "run-waiting", path: run("waiting"), view: fine, change: who(olga)},
		{name: "run-gaveup", path: run("gaveup"), view: fine, change: who(olga)},
		{name: "run-adapted", path: run("adapted"), view: fine, change: who(olga)},
		{name: "run-restoring", path: run("restoring"), view: fine, change: who(olga)},
		{name: "run-held", path: run("held"), view: fine, change: who(olga)},
		{name: "run-unknown", path: run("unknown"), view: fine, change: who(olga)},
		{name: "run-succeeded", path: run("succeeded"), view: fine, change: who(olga)},
		{name: "run-failed", path: run("failed"), view: fine, change: who(olga)},
		{name: "run-refused", path: run("refused"), view: fine, change: who(olga)},
		{name: "run-stopped", path: run("stopped"), view: fine, change: who(olga)},
		{name: "run-undone", path: run("undone"), view: fine, change: who(olga)},
		{name: "run-viewer", path: run("running"), view: fine, change: who(vera)},
		{
			name:   "run-undorefused",
			path:   run("succeeded") + "/undo",
			view:   fine,
			change: over(fault.New(fault.Conflict, "This can no longer be undone: the two parts of a chunk are now on different shards.")),
			ask:    post("reason", ""),
		},
		{name: "runs", path: "/runs", view: fine, change: who(olga)},
		{name: "runs-filtered", path: "/runs?" + url.Values{"state": {"failed"}, "by": {"user:olga"}}.Encode(), view: fine, change: who(olga)},
		{name: "runs-none", path: "/runs", view: fine, change: func(d *site.Deps) { who(olga)(d); d.Actions = none }},
		{name: "runs-nomatch", path: "/runs?by=user:nobody", view: fine, change: who(vera)},
		{
			name:   "zones-operator",
			path:   "/zones",
			view:   zoned,
			change: who(olga),
		}, {name: "zones-readonly", path: "/zones", view: zoned, change: func(d *site.Deps) { who(olga)(d); held(store.OwnedByAnother)(d) }},
		{name: "zones-ownergone", path: "/zones", view: zoned, change: held(store.OwnerGone)},
		{name: "zones-datalost", path: "/zones", view: zoned, change: held(store.Vanished)},
		{name: "project-single", path: "/projects/" + project, view: single, change: who(olga)},
		{name: "overview-off", path: "/", view: fine, change: func(d *site.Deps) { d.Actions = nil }},
	}
}
