package yorkie_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/yorkie-team/yorkie/admin"
	"github.com/yorkie-team/yorkie/client"
	"github.com/yorkie-team/yorkie/pkg/document"
	"github.com/yorkie-team/yorkie/pkg/key"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/test/process"
)

const documents = database + ".documents"

// rangedLayout is the sharding of Yorkie 0.4: every key is a range.
var rangedLayout = map[string]bson.D{
	"clients":   {{Key: "project_id", Value: 1}},
	"documents": {{Key: "project_id", Value: 1}},
	"changes":   {{Key: "doc_id", Value: 1}},
	"snapshots": {{Key: "doc_id", Value: 1}},
}

// A project that is one value of the key of documents is found hot, the key is refined, the project is
// split and its halves are moved apart, all while Yorkie writes. Nothing that Yorkie acknowledged is lost.
func TestAHotProjectIsRefinedSplitAndSpreadWhileYorkieWrites(t *testing.T) {
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("a long test: set SHARDBOARD_LONG=1")
	}
	bin := process.Shardboard(t)
	yorkie := process.Build(t, "yorkie", ".", "github.com/yorkie-team/yorkie/cmd/yorkie")
	// Before 7.0, findAndModify by {project_id, _id} fails once a project is on two shards.
	cluster := process.Start(t, bin, "simcluster", "--empty", "--server-version", "7.0", "--listen", "127.0.0.1:0")
	uri := cluster.Line(t, `^(mongodb://\S+)`)
	s := connect(t, uri)
	s.must(bson.D{{Key: "balancerStop", Value: 1}})
	s.must(bson.D{{Key: "enableSharding", Value: database}})
	for collection, pattern := range rangedLayout {
		s.must(bson.D{{Key: "shardCollection", Value: database + "." + collection}, {Key: "key", Value: pattern}})
	}
	port := process.FreePort(t)
	addr := "127.0.0.1:" + port
	server := process.Start(t, yorkie, "server", "--mongo-connection-uri", uri, "--mongo-yorkie-database", database,
		"--rpc-port", port, "--profiling-port", process.FreePort(t), "--backend-gateway-addr", addr, "--backend-rpc-addr", addr)
	apiKey, project := makeProject(t, addr, "hot")
	s.isolate(project)

	writing, stop := context.WithCancel(t.Context())
	defer stop()
	var written atomic.Int64
	all := writeUntil(t, writing, addr, apiKey, &written)
	served := process.Start(t, bin, "serve", "--uri", uri, "--listen", "127.0.0.1:0", "--auth", "none", "--actions", "on",
		"--data-dir", t.TempDir(), "--audit-key", filepath.Join(t.TempDir(), "audit.key"))
	o := operator{t, served.Line(t, `^shardboard is at (.*)/$`)}
	process.Eventually(t, "readiness", func(ctx context.Context) error { return get(ctx, o.root+"/readyz", nil) })

	o.seesHot(project)
	before := s.count("documents")
	whole := o.chunks(documents)[1].Ref
	if p := o.plan("split", map[string]any{"ns": documents, "chunk": whole}); !p.Blocked {
		t.Errorf("a split of one project is planned before the key is refined: %+v", p)
	}
	o.change("refine-key", map[string]any{"ns": documents, "key": json.RawMessage(`{"project_id": 1, "key": 1}`)})
	o.change("split", map[string]any{"ns": documents, "chunk": o.chunks(documents)[1].Ref})
	half, to := o.chunks(documents)[1], shards[0]
	if half.Shard == to {
		to = shards[1]
	}
	o.change("move", map[string]any{"ns": documents, "chunk": half.Ref, "to": to})
	if on := s.shardsWithRows("documents"); len(on) != 2 {
		t.Errorf("the project is on %v", on)
	}
	enough := written.Load() + 20*editors // with the project on two shards
	process.Eventually(t, "Yorkie goes on", func(context.Context) error {
		if now := written.Load(); now < enough {
			return fmt.Errorf("%d of %d actions", now, enough)
		}
		return nil
	})
	stop()
	editors := all()
	if after := s.count("documents"); after < before {
		t.Errorf("documents has %d rows, and had %d before", after, before)
	}
	checkCounters(t, addr, apiKey, editors)
	for line := range strings.Lines(server.Output()) {
		if strings.Contains(line, "ERROR") || strings.Contains(line, "PANIC") || strings.Contains(line, "panic:") {
			t.Errorf("the Yorkie server says: %s", line)
		}
	}
}

// isolate splits documents before and after a project, so that the project has a chunk of its own.
func (s *sharded) isolate(project string) {
	s.Helper()
	id, err := bson.ObjectIDFromHex(project)
	if err != nil {
		s.Fatal(err)
	}
	next := id
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]++; next[i] != 0 {
			break
		}
	}
	for _, at := range []bson.ObjectID{id, next} {
		s.must(bson.D{{Key: "split", Value: documents}, {Key: "middle", Value: bson.D{{Key: "project_id", Value: at}}}})
	}
}

func (s *sharded) count(collection string) int64 {
	s.Helper()
	n, err := s.db.Collection(collection).CountDocuments(s.Context(), bson.D{})
	if err != nil {
		s.Fatal(err)
	}
	return n
}

// shardsWithRows are the shards that have rows of a collection.
func (s *sharded) shardsWithRows(collection string) (on []string) {
	s.Helper()
	var stats []struct {
		Shard        string
		StorageStats struct{ Count int } `bson:"storageStats"`
	}
	s.aggregate(collection, &stats, bson.D{{Key: "$collStats", Value: bson.D{{Key: "storageStats", Value: bson.D{}}}}})
	for _, x := range stats {
		if x.StorageStats.Count > 0 {
			on = append(on, x.Shard)
		}
	}
	return on
}

// makeProject creates one project and returns its API key and its id.
func makeProject(t *testing.T, addr, name string) (apiKey, id string) {
	t.Helper()
	cli, err := admin.Dial(addr, admin.WithInsecure(true))
	must(t, err)
	defer cli.Close()
	process.Eventually(t, "sign in", func(ctx context.Context) error {
		_, err := cli.LogIn(ctx, "admin", "admin")
		return err
	})
	p, err := cli.CreateProject(t.Context(), name)
	must(t, err)
	return p.PublicKey, p.ID.String()
}

// writeUntil runs editors until the context ends; the function that it returns waits for them.
func writeUntil(t *testing.T, ctx context.Context, addr, apiKey string, written *atomic.Int64) func() []*editor {
	var all sync.WaitGroup
	out := make([]*editor, editors)
	for n := range out {
		all.Go(func() {
			var err error
			if out[n], err = runEditor(ctx, n, addr, apiKey, written); err != nil {
				t.Errorf("editor %d: %v", n, err)
			}
		})
	}
	return func() []*editor {
		all.Wait()
		edits := 0
		for _, e := range out {
			if e != nil {
				edits += e.edits
			}
		}
		t.Logf("%d edits", edits)
		return out
	}
}

// checkCounters reads all documents with a new client and compares the counters with what the editors did.
func checkCounters(t *testing.T, addr, apiKey string, editors []*editor) {
	t.Helper()
	c, err := client.Dial(addr, client.WithAPIKey(apiKey))
	must(t, err)
	defer func() { _ = c.Close() }()
	must(t, c.Activate(t.Context()))
	want := map[string]map[string]int64{} // document → counter → value
	for _, e := range editors {
		for name, n := range e.counted {
			if want[name] == nil {
				want[name] = map[string]int64{}
			}
			if n > 0 {
				want[name][fmt.Sprintf("count-%d", e.n)] = n
			}
		}
	}
	checked := 0
	for _, name := range slices.Sorted(maps.Keys(want)) {
		d := document.New(key.Key(name))
		if err := c.Attach(t.Context(), d); err != nil {
			t.Fatalf("attach %s: %v", name, err)
		}
		var root map[string]any
		if err := json.Unmarshal([]byte(d.Marshal()), &root); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for counter, n := range want[name] {
			if got, _ := root[counter].(float64); int64(got) != n {
				t.Errorf("%s in %s is %v; %d increments were acknowledged", counter, name, root[counter], n)
			}
			checked++
		}
		if err := c.Detach(t.Context(), d); err != nil {
			t.Fatalf("detach %s: %v", name, err)
		}
	}
	t.Logf("%d counters in %d documents compared", checked, len(want))
	if checked < len(editors) {
		t.Error("too few counters for a meaningful test")
	}
}

// operator changes the cluster through the dashboard.
type operator struct {
	*testing.T
	root string
}

type plan struct {
	ID, Hash string
	Confirm  *string
	Blocked  bool
	Checks   []struct{ Verdict, Text string }
}

// plan makes a plan.
func (o operator) plan(kind string, args map[string]any) (p plan) {
	o.Helper()
	o.post("/api/v1/plans", map[string]any{"kind": kind, "args": args, "reason": "one project has all writes"}, &p)
	return p
}

// change plans a change, runs it and waits until it is proven.
func (o operator) change(kind string, args map[string]any) {
	o.Helper()
	p := o.plan(kind, args)
	if p.Blocked {
		o.Fatalf("%s %v is blocked: %+v", kind, args, p.Checks)
	}
	var run struct {
		ID, State, Why string
		Open           bool
	}
	o.post("/api/v1/plans/"+p.ID+"/run", map[string]any{"hash": p.Hash, "confirm": p.Confirm}, &run)
	id := run.ID
	process.Eventually(o.T, kind, func(ctx context.Context) error {
		if err := get(ctx, o.root+"/api/v1/runs/"+id, &run); err != nil {
			return err
		}
		if run.Open {
			return fmt.Errorf("the run is %s: %s", run.State, run.Why)
		}
		return nil
	})
	if run.State != "succeeded" {
		o.Fatalf("%s %v: %+v", kind, args, run)
	}
}

func (o operator) post(path string, body, into any) {
	o.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		o.Fatal(err)
	}
	r, err := http.Post(o.root+path, "application/json", bytes.NewReader(raw))
	if err != nil {
		o.Fatal(err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil {
		o.Fatal(err)
	}
	if r.StatusCode/100 != 2 {
		o.Fatalf("%s: %s: %s", path, r.Status, answer)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		o.Fatal(err)
	}
}

type chunk struct{ Ref, Shard string }

// chunks are the chunks of a collection, in key order.
func (o operator) chunks(ns string) []chunk {
	o.Helper()
	var list struct{ Items []chunk }
	if err := get(o.Context(), o.root+"/api/v1/collections/"+ns+"/chunks?limit=1000", &list); err != nil {
		o.Fatal(err)
	}
	return list.Items
}

// seesHot waits until the project has most of the writes.
func (o operator) seesHot(project string) {
	o.Helper()
	process.Eventually(o.T, "the project is hot", func(ctx context.Context) error {
		var list struct {
			Items []struct {
				ID              string
				WritesPerSecond float64
				Share           float64
			}
		}
		if err := get(ctx, o.root+"/api/v1/heat/projects", &list); err != nil {
			return err
		}
		if len(list.Items) == 0 || list.Items[0].ID != project || list.Items[0].Share < 0.5 || list.Items[0].WritesPerSecond < 5 {
			return fmt.Errorf("the hottest projects are %+v", list.Items)
		}
		return nil
	})
}
