package web_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/message"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// Who holds up a deletion is said in the same words on the run that waits for it, on the shard, the collection and as a
// problem, with the command; without the right to know, that it cannot be known.
func TestEveryPlaceSaysWhoHoldsUpADeletion(t *testing.T) {
	kept := webtest.CannedActions()
	run := kept.RunList[slices.IndexFunc(kept.RunList, func(r engine.Run) bool { return r.ID == webtest.RecordID("waiting") })]
	last := &run.Steps[len(run.Steps)-1]
	shard, ns := "shard-rs-2", webtest.DocumentsNS
	last.Shard, last.NS = shard, ns
	last.Backoff = &engine.Backoff{Obstacle: operation.ObstacleOrphans, Since: last.Backoff.Since, Next: last.Backoff.Next,
		Until: last.Backoff.Until, What: message.New("x", "Its documents are in the way.")}
	s := webtest.New(t, webtest.WithActions(kept))
	table := webtest.CannedTable(2, 250)
	at := webtest.Epoch.Add(-time.Hour)
	session := topology.SessionID{ID: "0123456789abcdef"}
	cursors := []topology.OpenCursor{
		{Shard: shard, NS: ns, ID: 1, App: webtest.HostileName, Client: "10.0.0.7", Opened: at, Session: session},
		{Shard: shard, NS: ns, ID: 2, App: "report-job", Opened: at.Add(time.Minute), Session: session},
	}
	table.Deletions = topology.Deletions{At: webtest.Epoch, Held: []topology.HeldDeletion{
		{NS: ns, Shard: shard, Since: at.Add(time.Hour), Cursors: cursors, Count: 2}}}
	s.Watcher.Publish(table)
	command := `db.adminCommand({killSessions: [{id: UUID("30313233-3435-3637-3839-616263646566")}]})`
	pages := []string{"/runs/" + run.ID, "/shards/" + shard, "/collections/" + string(ns), "/advice"}
	for _, path := range pages {
		page := pageOf(t, s, path)
		text := textOf(t, page)
		expect.ContainsAll(t, text, []string{"The old documents of " + string(ns) + " wait for 2 open cursors of",
			"report-job on " + shard, command, "10.0.0.7"}, "%s", path)
		expect.Lacks(t, page, "<script>alert", "%s has a script of the cluster", path)
	}
	detail := webtest.Decode[api.ShardDetail](t, s.Do("GET", "/api/v1/shards/"+shard))
	of := webtest.Decode[api.Run](t, s.Do("GET", "/api/v1/runs/"+run.ID))
	if h := detail.Deletions.Held; len(h) != 1 || h[0].Cursors != 2 || len(h[0].Programs) != 2 || h[0].Commands[0] != command ||
		of.Deletions == nil || of.Deletions.Held[0].Text.String() != h[0].Text.String() {
		t.Errorf("in the API: %+v, of the run %+v", detail.Deletions, of.Deletions)
	}

	s = webtest.New(t, webtest.WithActions(kept)) // its problems are found anew
	table = webtest.CannedTable(2, 250)
	table.Deletions = topology.Deletions{Reason: "notPermitted", Privilege: "inprog on the cluster"}
	s.Watcher.Publish(table)
	for _, path := range pages {
		if text := textOf(t, pageOf(t, s, path)); !strings.Contains(text,
			"Whether open cursors hold up the deletion of old documents cannot be known without inprog on the cluster.") {
			t.Errorf("%s does not say that it cannot be known", path)
		}
	}
	if r := webtest.Decode[api.Run](t, s.Do("GET", "/api/v1/runs/"+webtest.RecordID("queued"))); r.Deletions != nil {
		t.Errorf("a run that waits for no deletion: %+v", r.Deletions)
	}
}
