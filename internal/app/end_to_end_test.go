package app

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func TestEveryDocumentedPathAnswersOverARunningCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, quietCluster(), topology.Options{})
	var spec struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Content map[string]any }
		}
	}
	d.getJSON(t, "api/openapi.json", &spec)
	var projects struct{ Items []struct{ ID, Name string } }
	d.getJSON(t, "api/v1/projects", &projects)
	if len(projects.Items) != 12 {
		t.Fatalf("%d projects, want 12", len(projects.Items))
	}
	var chunks struct{ Items []struct{ Ref string } }
	d.getJSON(t, "api/v1/collections/yorkie-meta.changes/chunks?limit=1", &chunks)
	fill := strings.NewReplacer("{ref}", chunks.Items[0].Ref,
		"{name}", "shard-rs-2", "{ns}", "yorkie-meta.changes", "{id}", projects.Items[0].ID,
		"{level}", "0", "{index}", "0", "{playbook}", "hot-project", "{runbook}", "balancer-off")
	if !eventually(20*time.Second, func() bool { res, _ := d.get(t, "api/v1/history/compare"); return res.StatusCode == http.StatusOK }) {
		t.Error("history is off")
	}
	asked := 0
	for path, methods := range spec.Paths {
		if _, ok := methods["get"]; !ok || strings.Contains(path, "/live") || strings.HasPrefix(path, "/static/") {
			continue
		}
		target := strings.TrimPrefix(fill.Replace(path), "/")
		if strings.HasSuffix(path, "/locate") {
			target += "?q=" + url.QueryEscape(projects.Items[0].Name)
		}
		res, body := d.get(t, target)
		// This demo has no survey.
		want := http.StatusOK
		if path == "/history/step" { // needs a time
			want = http.StatusBadRequest
		}
		if strings.HasSuffix(path, "/{survey}") || strings.HasSuffix(path, "/surveys/{id}") {
			want = http.StatusNotFound
		}
		if res.StatusCode != want {
			t.Errorf("GET /%s: %s\n%.300s", target, res.Status, body)
		}
		if res.Request.URL.Path != "/"+target && !strings.Contains(target, "?") {
			if _, led := methods["get"].Responses["303"]; !led {
				t.Errorf("GET /%s redirects to %s, which its description does not mention", target, res.Request.URL.Path)
			}
			asked++
			continue
		}
		told := methods["get"].Responses["default"]
		if res.StatusCode < 400 {
			told = methods["get"].Responses[strconv.Itoa(res.StatusCode)]
		}
		if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); told.Content[media] == nil {
			t.Errorf("GET /%s: status %d with %q differs from the description: %v", target, res.StatusCode, media, told.Content)
		}
		if strings.HasPrefix(path, "/api/") && !json.Valid(body) {
			t.Errorf("GET /%s: not JSON", target)
		}
		asked++
	}
	if asked < 15 {
		t.Errorf("only %d paths are documented", asked)
	}
}

func TestLocateAgreesWithExplain(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, quietCluster(), topology.Options{})
	cursor, err := d.driver.Database("yorkie-meta").Collection("documents").Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	var docs []struct {
		ID      bson.ObjectID `bson:"_id"`
		Project bson.ObjectID `bson:"project_id"`
		Key     string        `bson:"key"`
	}
	if err := cursor.All(t.Context(), &docs); err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs[:50] {
		var answer struct {
			Items []struct {
				ID     string
				Places []struct {
					NS, Shard string
					Hash      *string
				}
			}
		}
		d.getJSON(t, "api/v1/locate?q="+url.QueryEscape(doc.Project.Hex()+"/"+doc.Key), &answer)
		for _, item := range answer.Items {
			if item.ID != doc.ID.Hex() {
				continue // a removed document with the same key
			}
			for _, p := range item.Places {
				filter := bson.D{{Key: "project_id", Value: doc.Project}, {Key: "_id", Value: doc.ID}}
				if p.NS == "yorkie-meta.changes" {
					filter = bson.D{{Key: "doc_id", Value: doc.ID}}
					if want := fmt.Sprint(shardkey.HashObjectID(doc.ID)); p.Hash == nil || *p.Hash != want {
						t.Errorf("hash of %s: %v, want %s", doc.ID.Hex(), p.Hash, want)
					}
				} else if p.NS != "yorkie-meta.documents" {
					continue
				}
				if got := d.explain(t, p.NS, filter); len(got) != 1 || got[0] != p.Shard {
					t.Errorf("%s %s: located on %s, explain says %v", p.NS, doc.ID.Hex(), p.Shard, got)
				}
			}
		}
	}
}

// explain returns the shards that a find is sent to, according to the cluster.
func (d *demo) explain(t *testing.T, ns string, filter bson.D) []string {
	t.Helper()
	db, coll, _ := strings.Cut(ns, ".")
	var reply struct {
		QueryPlanner struct {
			WinningPlan struct {
				Shards []struct {
					ShardName string `bson:"shardName"`
				} `bson:"shards"`
			} `bson:"winningPlan"`
		} `bson:"queryPlanner"`
	}
	err := d.driver.Database(db).RunCommand(t.Context(), bson.D{
		{Key: "explain", Value: bson.D{{Key: "find", Value: coll}, {Key: "filter", Value: filter}}},
		{Key: "verbosity", Value: "queryPlanner"},
	}).Decode(&reply)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range reply.QueryPlanner.WinningPlan.Shards {
		names = append(names, s.ShardName)
	}
	return names
}

func TestASplitByAnotherDriverReachesAnOpenSocket(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, quietCluster(), topology.Options{})
	const ns = "yorkie-meta.changes"
	conn, res, err := websocket.DefaultDialer.Dial("ws://"+d.app.Addr()+"/live?t=collection:"+ns,
		http.Header{"Origin": {"http://" + d.app.Addr()}})
	if err != nil {
		t.Fatalf("unexpected error %v, response %v", err, res)
	}
	defer conn.Close()
	before := d.app.Watcher().Table().Collection(ns).Chunks.Len()
	c := d.app.Watcher().Table().Collection(ns)
	at := c.Chunks.At(0)
	lower, err := c.Key.Document(at.Min)
	if err != nil {
		t.Fatal(err)
	}
	upper, err := c.Key.Document(at.Max)
	if err != nil {
		t.Fatal(err)
	}
	d.admin(t, bson.D{{Key: "split", Value: ns}, {Key: "bounds", Value: bson.A{lower, upper}}})
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for d.app.Watcher().Table().Collection(ns).Chunks.Len() == before {
		// Frames of other changes (status, sizes) may arrive first.
		if _, _, err := conn.ReadMessage(); err != nil {
			t.Fatalf("no frame shows the split: %v", err)
		}
	}
	var chunks struct{ Items []json.RawMessage }
	d.getJSON(t, "api/v1/collections/"+ns+"/chunks?limit=1000", &chunks)
	if len(chunks.Items) != before+1 {
		t.Errorf("%d chunks, want %d", len(chunks.Items), before+1)
	}
}

func TestInvalidInputIsRefusedWithAnExplanation(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, quietCluster(), topology.Options{})
	tests := []struct {
		path   string
		status int
	}{
		{"api/v1/projects/000000000000000000000001", 404},
		{"api/v1/projects/nothex", 400},
		{"api/v1/projects/" + strings.Repeat("a", 10<<10), 400},
		{"api/v1/shards/nope", 404},
		{"api/v1/collections/no.such", 404},
		{"api/v1/collections/yorkie-meta.changes/chunks?limit=-1", 400},
		{"api/v1/collections/yorkie-meta.changes/chunks?cursor=%00", 400},
		{"api/v1/locate?q=" + strings.Repeat("x", 10<<10), 400},
		{"api/v1/locate?q=%00", 400},
		{"api/v1/locate?q=%ff%fe", 400},
		{"api/v1/locate?q=%3Cscript%3Ealert(1)%3C/script%3E", 404},
		{"api/v1/locate?q=%7B%22%24gt%22%3A%22%22%7D", 404},
		{"api/v1/locate?ns=yorkie-meta.documents&key=%7B%22project_id%22%3A%7B%22%24gt%22%3A1%7D%7D", 400},
		{"api/v1/no/such", 404},
		{"projects/000000000000000000000001", 404},
		{"projects/nothex", 400},
		{"shards/%00", 400},
		{"collections/no.such", 404},
	}
	for _, tc := range tests {
		res, body := d.get(t, tc.path)
		if res.StatusCode != tc.status {
			t.Errorf("GET /%.80s: %s, want %d\n%.200s", tc.path, res.Status, tc.status, body)
		}
		if strings.Contains(string(body), "<script>alert") {
			t.Errorf("GET /%.80s: the input is returned as unescaped HTML", tc.path)
		}
		if kind := res.Header.Get("Content-Type"); strings.HasPrefix(tc.path, "api/") && kind != "application/problem+json" {
			t.Errorf("GET /%.80s: content type %q", tc.path, kind)
		}
	}
}

// A cluster that stopped and starts again at its address is read again without a
// restart of the dashboard, even if it lost its latest changes.
func TestARestartedClusterIsFollowedAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	t.Parallel() // mostly waits
	o := quietCluster()
	o.Epoch = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	d := startDemo(t, o, topology.Options{Routing: 100 * time.Millisecond, MaxBackoff: 200 * time.Millisecond})
	const ns = "yorkie-meta.changes"
	loaded := d.app.Watcher().Table().Collection(ns).Chunks
	c := d.app.Watcher().Table().Collection(ns)
	lower, err := c.Key.Document(loaded.At(0).Min)
	if err != nil {
		t.Fatal(err)
	}
	upper, err := c.Key.Document(loaded.At(0).Max)
	if err != nil {
		t.Fatal(err)
	}
	d.admin(t, bson.D{{Key: "split", Value: ns}, {Key: "bounds", Value: bson.A{lower, upper}}})
	d.waitForTable(t, "the split to show", func(t *topology.Table) bool { return t.Collection(ns).Chunks.Len() == loaded.Len()+1 })

	d.stopCluster(t)
	d.waitForTable(t, "the loss to show", func(t *topology.Table) bool { return t.Health[topology.PartRouting].Err != nil })
	if n := d.app.Watcher().Table().Collection(ns).Chunks.Len(); n != loaded.Len()+1 {
		t.Errorf("the last table was dropped: %d chunks", n)
	}
	d.restartCluster(t, o)
	d.waitForTable(t, "the cluster to be followed again", func(t *topology.Table) bool {
		return t.Health[topology.PartRouting].Err == nil && t.Collection(ns).Chunks.Len() == loaded.Len()
	})
}
