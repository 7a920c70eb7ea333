package web_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// What is said of orphaned documents is the same on every page and in the API, in
// each release: before a range leaves, just after, when the shards have counted,
// and when its documents are deleted.
func TestEveryPlaceTellsTheSameOfOrphans(t *testing.T) {
	for release, counts := range map[string]bool{"4.4": false, "5.0": false, "6.0.2": true, "6.0": true, "7.0": true, "8.0": true} {
		if testing.Short() && release != "5.0" && release != "7.0" {
			continue
		}
		t.Run(release, func(t *testing.T) {
			o := simcluster.Options{Projects: 3, Documents: 60, Still: true, ServerVersion: release}
			webtest.OnBreakableCluster(t, o, func(f *webtest.BreakableServer) {
				const ns = "yorkie-meta.changes"
				read := func() { time.Sleep(2 * time.Minute) } // the statistics
				read()
				quiet := topology.OrphansQuiet
				if counts {
					quiet = topology.OrphansCounted
				}
				checkOrphans(f, ns, "shard-rs-1", quiet, 0)
				c := f.Watcher.Table().Collection(ns)
				from, n := "", 0
				for i := range c.Chunks.Len() {
					if ch := c.Chunks.At(i); ch.Shard == "shard-rs-1" {
						lower, err := c.Key.Document(ch.Min)
						f.Must(err)
						upper, err := c.Key.Document(ch.Max)
						f.Must(err)
						f.Admin(bson.D{{Key: "moveChunk", Value: ns}, {Key: "bounds", Value: bson.A{lower, upper}}, {Key: "to", Value: "shard-rs-2"}})
						from = ch.Shard
						break
					}
				}
				time.Sleep(30 * time.Second) // the changelog was read, the statistics perhaps not
				for _, e := range f.Watcher.Table().Events {
					if g, ok := topology.GivenAway(e); ok && g.NS == ns {
						n = int(g.Documents)
					}
				}
				must.That(f, from != "" && n != 0, "nothing was moved")
				read()
				if counts && f.Watcher.Table().Collection(ns).Chunks.CountByShard()[from] > 0 {
					checkOrphans(f, ns, from, topology.OrphansCounted, n)
				} else { // not listed any more: 8.0 had one chunk there
					checkOrphans(f, ns, from, topology.OrphansPending, n)
				}
				time.Sleep(topology.OrphanDelay)
				read()
				checkOrphans(f, ns, from, quiet, 0)
			})
		})
	}
}

// checkOrphans holds all that speaks of a shard's orphaned documents to one state.
func checkOrphans(f *webtest.BreakableServer, ns, shard string, want topology.OrphanState, most int) {
	f.Helper()
	get := func(path string) string {
		return f.Do("GET", path, webtest.As("anna", auth.Viewer), webtest.Header("Accept", "text/html")).Body.String()
	}
	fact := func(path string) (text, title string) {
		cell := webtest.ParseHTML(f.T, get(path)).Find("dt:contains('Orphaned documents')").Next()
		title, _ = cell.Find("[title]").Attr("title")
		if own, ok := cell.Attr("title"); ok {
			title = own
		}
		return strings.TrimSpace(cell.Text()), title
	}
	c := webtest.Decode[api.CollectionDetail](f.T, f.Do("GET", "/api/v1/collections/"+ns, webtest.As("anna", auth.Viewer)))
	s := webtest.Decode[api.ShardDetail](f.T, f.Do("GET", "/api/v1/shards/"+shard, webtest.As("anna", auth.Viewer)))
	var on api.Orphans
	for _, one := range c.ByShard {
		if one.Shard == shard {
			on = one.Orphans
		}
	}
	for name, o := range map[string]api.Orphans{"collection": c.Orphans, "shard": s.Orphans, "collection on the shard": on} {
		expect.That(f, o.State == string(want) && o.Text != "" && !strings.Contains(o.Text, "["), "%s: %+v, want %s", name, o, want)
		switch want {
		case topology.OrphansCounted:
			if o.Count.Value == nil || *o.Count.Value != int64(most) {
				f.Errorf("%s: %+v (%v), want %d counted", name, o, o.Count.Value != nil && *o.Count.Value >= 0, most)
				if o.Count.Value != nil {
					f.Errorf("counted %d", *o.Count.Value)
				}
			}
		case topology.OrphansPending:
			expect.That(f, o.AtMost != nil && *o.AtMost == int64(most) && o.Until != nil && o.Ranges == 1 && o.Count.Value == nil,
				"%s: %+v, want at most %d", name, o, most)
		default:
			expect.That(f, o.Count.Value == nil && o.AtMost == nil, "%s: %+v", name, o)
		}
	}
	for path, told := range map[string]api.Orphans{"/collections/" + ns: c.Orphans, "/shards/" + shard: s.Orphans} {
		text, title := fact(path)
		expect.That(f, text != "" && strings.HasPrefix(title, told.Text), "%s says %q (%q), the API %q", path, text, title, told.Text)
	}
	// Figures of documents say whether orphans are in them.
	for _, p := range c.Shards {
		expect.That(f, p.Documents.Method != "collStats" || want != topology.OrphansCounted || p.Chunks == 0,
			"documents on %s are said to have orphans in them", p.Shard)
	}
}

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
		text := textOf(t, pageOf(t, s, path))
		expect.Contains(t, text, "Whether open cursors hold up the deletion of old documents cannot be known without inprog on the cluster.",
			"%s does not say that it cannot be known", path)
	}
	r := webtest.Decode[api.Run](t, s.Do("GET", "/api/v1/runs/"+webtest.RecordID("queued")))
	expect.That(t, r.Deletions == nil, "a run that waits for no deletion: %+v", r.Deletions)
}
