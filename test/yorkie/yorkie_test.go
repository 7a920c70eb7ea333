package yorkie_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/yorkie-team/yorkie/admin"
	"github.com/yorkie-team/yorkie/api/types"
	"github.com/yorkie-team/yorkie/pkg/document/yson"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/test/process"
)

const (
	editors  = 12
	projects = 5
)

// stored is a row of Yorkie's documents collection.
type stored struct {
	ID      bson.ObjectID `bson:"_id"`
	Project bson.ObjectID `bson:"project_id"`
	Key     string
}

func (d stored) byProject() bson.D  { return bson.D{{Key: "project_id", Value: d.Project}} }
func (d stored) byDocument() bson.D { return bson.D{{Key: "doc_id", Value: d.ID}} }

func TestMain(m *testing.M) { process.Main(m) }

func TestYorkieRunsOnTheSimulatedCluster(t *testing.T) {
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("a long test: set SHARDBOARD_LONG=1")
	}
	bin := process.Shardboard(t)
	yorkie := process.Build(t, "yorkie", ".", "github.com/yorkie-team/yorkie/cmd/yorkie")
	t.Run("5.0", func(t *testing.T) { runYorkie(t, bin, yorkie, "5.0", 15) })
	t.Run("8.0", func(t *testing.T) { runYorkie(t, bin, yorkie, "8.0", 5) }) // the version that Yorkie's chart deploys
}

// runYorkie runs a Yorkie server with editors on a cluster of a release until some chunks have moved.
func runYorkie(t *testing.T, bin, yorkie, release string, moves int) {
	cluster := process.Start(t, bin, "simcluster", "--empty", "--server-version", release, "--listen", "127.0.0.1:0")
	uri := cluster.Line(t, `^(mongodb://\S+)`)
	s := connect(t, uri)
	s.setUpSharding()

	port := process.FreePort(t)
	addr := "127.0.0.1:" + port
	server := process.Start(t, yorkie, "server", "--mongo-connection-uri", uri, "--mongo-yorkie-database", database,
		"--rpc-port", port, "--profiling-port", process.FreePort(t), "--backend-gateway-addr", addr, "--backend-rpc-addr", addr,
		// Shorten intervals so that housekeeping runs within the test.
		"--housekeeping-interval", "5s", "--housekeeping-compaction-min-changes", "200",
		"--housekeeping-project-stats-refresh-interval", "5s")

	names, keys := makeProjects(t, s, addr)
	runEditors(t, s, addr, keys, moves)
	for line := range strings.Lines(server.Output()) {
		if strings.Contains(line, "ERROR") || strings.Contains(line, "PANIC") || strings.Contains(line, "panic:") {
			t.Errorf("the Yorkie server says: %s", line)
		}
	}
	documents := checkPlacements(t, s)
	checkDashboard(t, bin, uri, names, s, documents)
}

// makeProjects signs in and creates the projects, each with its own chunks.
func makeProjects(t *testing.T, s *sharded, addr string) (names, keys []string) {
	t.Helper()
	cli, err := admin.Dial(addr, admin.WithInsecure(true))
	must(t, err)
	defer cli.Close()
	process.Eventually(t, "sign in", func(ctx context.Context) error {
		_, err := cli.LogIn(ctx, "admin", "admin")
		return err
	})
	for n := range projects {
		name := fmt.Sprintf("project-%d", n)
		p, err := cli.CreateProject(t.Context(), name)
		if err != nil {
			t.Fatalf("create project: %v", err)
		}
		id, err := bson.ObjectIDFromHex(p.ID.String())
		must(t, err)
		s.splitAt(id)
		if _, err := cli.CreateDocument(t.Context(), name, "from-admin", yson.Object{"title": "made by admin"}); err != nil {
			t.Fatalf("create document: %v", err)
		}
		list, err := cli.ListDocuments(t.Context(), name, "", 10, true, true)
		if err != nil || len(list) != 1 || list[0].Key != "from-admin" {
			t.Fatalf("list documents: %v, %v", list, err)
		}
		if err := cli.CreateSchema(t.Context(), name, "note", 1, "type Document = { title: string; };",
			[]types.Rule{{Path: "$", Type: "object"}, {Path: "$.title", Type: "string"}}); err != nil {
			t.Fatalf("create schema: %v", err)
		}
		if _, err := cli.UpdateDocument(t.Context(), name, "from-admin", `{"title": "changed by admin"}`, ""); err != nil {
			t.Fatalf("update document: %v", err)
		}
		if _, err := cli.ListChangeSummaries(t.Context(), name, "from-admin", 0, 10, true); err != nil {
			t.Fatalf("list changes: %v", err)
		}
		names, keys = append(names, name), append(keys, p.PublicKey)
	}
	return names, keys
}

// runEditors runs the editors while chunks move, and until each made some edits.
func runEditors(t *testing.T, s *sharded, addr string, keys []string, moves int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), process.Wait)
	defer cancel()
	var written atomic.Int64
	var all sync.WaitGroup
	var mu sync.Mutex
	edits, made := 0, 0
	for n := range editors {
		all.Go(func() {
			e, err := runEditor(ctx, n, addr, keys[n%len(keys)], &written)
			if err != nil {
				t.Errorf("editor %d: %v", n, err)
				cancel()
			}
			mu.Lock()
			defer mu.Unlock()
			if e != nil {
				edits, made = edits+e.edits, made+e.made
			}
		})
	}
	moved, random := 0, rand.New(rand.NewPCG(1, 2))
	for ; ctx.Err() == nil && (moved < moves || written.Load() < editors*10); moved++ {
		if err := s.moveOne(context.WithoutCancel(ctx), random); err != nil {
			t.Errorf("move chunks: %v", err)
			break
		}
	}
	cancel()
	all.Wait()
	t.Logf("%d editors made %d documents and %d edits while %d chunks moved", editors, made, edits, moved)
	if edits < editors*10 || made < editors || moved < moves {
		t.Error("too few edits or moves for a meaningful test")
	}
}

// checkPlacements compares the documents on each shard with explain and returns some of them.
func checkPlacements(t *testing.T, s *sharded) (some []stored) {
	t.Helper()
	for _, c := range []struct{ collection, field string }{
		{"documents", "project_id"}, {"changes", "doc_id"}, {"versionvectors", "doc_id"}, {"snapshots", "doc_id"},
	} {
		n := s.checkPlacement(c.collection, c.field)
		t.Logf("%s: %d documents compared with explain", c.collection, n)
		if n == 0 && slices.Contains([]string{"documents", "changes"}, c.collection) {
			t.Errorf("the collection %s is empty", c.collection)
		}
	}
	s.aggregate("documents", &some,
		bson.D{{Key: "$match", Value: bson.D{{Key: "removed_at", Value: bson.D{{Key: "$exists", Value: false}}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}}, bson.D{{Key: "$limit", Value: 40}})
	if len(some) < projects {
		t.Errorf("%d documents", len(some))
	}
	return some
}
