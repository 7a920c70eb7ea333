package realsuite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

const (
	yorkieData = "suite-yorkie"
	// heatWindow is the time over which writes are counted.
	heatWindow = time.Minute
	// editFor is how long the editors write at most: some windows, and what the product needs to see them.
	editFor = 4 * time.Minute
)

// yorkieLayout is the sharding that Yorkie's chart sets up.
var yorkieLayout = map[string]bson.D{
	"clients":        {{Key: "project_id", Value: 1}, {Key: "_id", Value: "hashed"}},
	"documents":      {{Key: "project_id", Value: 1}},
	"changes":        {{Key: "doc_id", Value: "hashed"}},
	"snapshots":      {{Key: "doc_id", Value: "hashed"}},
	"versionvectors": {{Key: "doc_id", Value: "hashed"}},
}

// startYorkie starts Yorkie's own server on the cluster and returns its address.
func startYorkie(w *world) string {
	w.Helper()
	bin := build(w, "yorkie", "../../test/yorkie", "github.com/yorkie-team/yorkie/cmd/yorkie")
	w.admin(bson.D{{Key: "enableSharding", Value: yorkieData}})
	for name, key := range yorkieLayout {
		w.admin(bson.D{{Key: "shardCollection", Value: yorkieData + "." + name}, {Key: "key", Value: key}})
	}
	port, profiling := unusedPort(w), unusedPort(w)
	addr := "127.0.0.1:" + port
	out := &output{}
	cmd := exec.Command(bin, "server", "--mongo-connection-uri", w.cluster.URI(), "--mongo-yorkie-database", yorkieData,
		"--rpc-port", port, "--profiling-port", profiling, "--backend-gateway-addr", addr, "--backend-rpc-addr", addr)
	cmd.Stdout, cmd.Stderr = out, out
	w.must(cmd.Start())
	w.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Wait()
		if w.Failed() {
			w.Logf("end of the output of Yorkie:\n%s", out.tail(3000))
		}
	})
	return addr
}

func unusedPort(t testing.TB) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// startEditors begins to edit and returns the ids of the projects, and what ends it.
func startEditors(w *world, addr string) (projects []string, end func() error) {
	w.Helper()
	return startEditorsFor(w, addr, editFor)
}

func startEditorsFor(w *world, addr string, long time.Duration, more ...string) (projects []string, end func() error) {
	w.Helper()
	bin := build(w, "editors", "../../test/yorkie", "./editors")
	const n = 3
	flags := append([]string{"-addr", addr, "-projects", fmt.Sprint(n), "-for", long.String()}, more...)
	cmd := exec.CommandContext(w.Context(), bin, flags...)
	said := &output{}
	cmd.Stderr = said
	stdout := must.Get(cmd.StdoutPipe())
	w.must(cmd.Start())
	w.Cleanup(func() { _ = cmd.Process.Kill() })
	in := bufio.NewScanner(stdout)
	for len(projects) < n && in.Scan() {
		var p struct{ ID string }
		w.must(json.Unmarshal(in.Bytes(), &p))
		projects = append(projects, p.ID)
	}
	if len(projects) < n {
		w.Fatalf("the editors did not begin: %v\n%s", cmd.Wait(), said.tail(2000))
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return projects, func() error {
		select {
		case err := <-ended:
			return errors.Join(errors.New("the editors ended early"), err, errors.New(said.tail(2000)))
		default:
		}
		_ = cmd.Process.Kill()
		<-ended
		return nil
	}
}

// hot is what the tests look at of one line of heat.
type hot struct {
	ID, Name        string
	WritesPerSecond float64
	AtLeast         bool
	From, To        *time.Time
	CoveredSeconds  float64
}

// heat lets Yorkie's own server write and compares what the product counts with the rows in the database,
// by the time in their ids: by project, by document and by shard.
func heat(w *world) {
	d := w.serve()
	addr := startYorkie(w)
	projects, end := startEditors(w, addr)
	ns := yorkieData + ".changes"
	for _, by := range []string{"projects", "documents", "shards"} {
		w.point("by "+by, func(w *world) {
			own := *d
			own.TB = w.TB
			own.eventually(editFor/2, "the writes are counted as they are", func(ctx context.Context) error {
				return compareHeat(ctx, w, &own, ns, by, len(projects))
			})
		})
	}
	w.must(end())
}

// compareHeat compares one answer, for the time that it covers.
func compareHeat(ctx context.Context, w *world, d *dashboard, ns, by string, projects int) error {
	var list struct{ Items []hot }
	if err := d.get(ctx, "/api/v1/heat/"+by+"?ns="+ns+"&window="+heatWindow.String(), &list); err != nil {
		return err
	}
	if len(list.Items) == 0 || list.Items[0].From == nil || list.Items[0].CoveredSeconds < 0.9*heatWindow.Seconds() {
		return fmt.Errorf("too little is counted yet: %+v", list.Items)
	}
	if by == "projects" && len(list.Items) < projects {
		return fmt.Errorf("%d projects are counted, want %d", len(list.Items), projects)
	}
	total := 0.0
	for _, h := range list.Items {
		rows, err := w.countRows(ctx, ns, by, h)
		if err != nil {
			return err
		}
		seconds := h.To.Sub(*h.From).Seconds()
		counted := h.WritesPerSecond * seconds
		total += counted
		// Ids have whole seconds: one second of writes at either end, and a row or two.
		if slack := 2*h.WritesPerSecond + 2 + 0.02*rows; math.Abs(counted-rows) > slack {
			return fmt.Errorf("%s has %.0f rows from %s to %s, and %.0f are counted (at least: %v)", h.ID+h.Name, rows,
				h.From.Format(time.TimeOnly), h.To.Format(time.TimeOnly), counted, h.AtLeast)
		}
	}
	if total < 100 {
		return fmt.Errorf("%.0f writes are too few for a meaningful test", total)
	}
	w.Logf("%s: %.0f writes are counted as they are", by, total)
	return nil
}

// countRows counts the rows of a project, document or shard by the time in their ids.
func (w *world) countRows(ctx context.Context, ns, by string, h hot) (float64, error) {
	between := bson.D{{Key: "$gte", Value: bson.NewObjectIDFromTimestamp(*h.From)}, {Key: "$lt", Value: bson.NewObjectIDFromTimestamp(*h.To)}}
	// The other bytes of these ids are random; only the seconds count.
	for i := range between {
		id := between[i].Value.(bson.ObjectID)
		between[i].Value = bson.ObjectID{id[0], id[1], id[2], id[3]}
	}
	filter := bson.D{{Key: "_id", Value: between}}
	if by == "shards" {
		return w.countOnShard(ctx, ns, filter, h.Name)
	}
	id, err := bson.ObjectIDFromHex(h.ID)
	if err != nil {
		return 0, err
	}
	field := map[string]string{"projects": "project_id", "documents": "doc_id"}[by]
	n, err := w.namespace(ns).CountDocuments(ctx, append(filter, bson.E{Key: field, Value: id}))
	return float64(n), err
}

// countOnShard adds up the rows of the documents that the router looks for on the shard.
func (w *world) countOnShard(ctx context.Context, ns string, filter bson.D, shard string) (total float64, err error) {
	cursor, err := w.namespace(ns).Aggregate(ctx, bson.A{bson.D{{Key: "$match", Value: filter}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$doc_id"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}}})
	if err != nil {
		return 0, err
	}
	var groups []struct {
		ID bson.ObjectID `bson:"_id"`
		N  float64
	}
	if err := cursor.All(ctx, &groups); err != nil {
		return 0, err
	}
	for _, g := range groups {
		on, err := w.targets(ctx, ns, bson.D{{Key: "doc_id", Value: g.ID}})
		if err != nil {
			return 0, err
		}
		if len(on) == 1 && on[0] == shard {
			total += g.N
		}
	}
	return total, nil
}
