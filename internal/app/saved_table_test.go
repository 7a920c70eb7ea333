package app

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// savedTable is the file that the routing table is saved in.
func (d *demo) savedTable(t *testing.T) string {
	t.Helper()
	names := must.Get(filepath.Glob(filepath.Join(d.config.DataDir, "routing-*.table")))
	must.That(t, len(names) == 1, "saved tables: %v", names)
	return names[0]
}

// logText is a log that a test reads.
type logText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The saved table is shown as of then while the cluster cannot be reached, nothing is planned from it, and the true one
// takes its place.
func TestAStartWithoutTheClusterShowsTheSavedTable(t *testing.T) {
	d := startThenLose(t)
	info := must.Get(os.Stat(d.savedTable(t)))
	expect.Equal(t, info.Mode().Perm(), 0o600, "mode %v", info.Mode())
	d.config.Actions = true
	d.serve(t)
	var ready api.Ready
	d.getJSON(t, "readyz", &ready) // at once, before the first attempt has failed
	expect.That(t, ready.Ready, "ready: %+v", ready)
	d.waitFor(t, "the first attempt", func() bool { d.getJSON(t, "readyz", &ready); return ready.Cluster == "lost" })
	res, body := d.get(t, "readyz?cluster=required")
	expect.Equal(t, res.StatusCode, http.StatusServiceUnavailable, "who needs the cluster is told %s: %s", res.Status, body)
	for path, says := range map[string]string{"": "shard-rs-3", "collections": "yorkie-meta.documents", "shards": "shard-rs-3",
		"map": "documents", "collections/yorkie-meta.documents": "shard-rs-3", "projects": ""} {
		if res, page := d.get(t, path); res.StatusCode != http.StatusOK || !strings.Contains(string(page), says) ||
			!strings.Contains(string(page), "The cluster does not answer. Pages show it as it was at ") {
			t.Errorf("/%s: %s, or it does not say %q and as of when it is", path, res.Status, says)
		}
	}
	var list api.List[api.Collection]
	if d.getJSON(t, "api/v1/collections", &list); !list.Stale || len(list.Items) == 0 || time.Since(list.AsOf) < 0 {
		t.Errorf("%d collections as of %s, stale %t", len(list.Items), list.AsOf, list.Stale)
	}
	client := apiClient{T: t, at: d.app.URL() + "api/v1"}
	client.expect(http.StatusServiceUnavailable, "POST", "/plans", `{"kind":"balancer-on","args":{},"reason":"test"}`)
	d.restartCluster(t, quietCluster())
	d.waitReady(t)
	d.waitFor(t, "the cluster as it is now", func() bool { // its parts are read one after the other
		var now api.Cluster
		d.getJSON(t, "api/v1/cluster", &now)
		return now.Connection.State == "connected" && !now.Stale
	})
}

// What changed while no shardboard ran is read, whether the saved table helps or is damaged.
func TestAStartFromASavedTableShowsTheTruthAfterVerification(t *testing.T) {
	d := startDemo(t, quietCluster(), quickly)
	log := &logText{}
	d.config.Log = slog.New(slog.NewTextHandler(log, nil))
	d.config.DataDir, d.config.AuditKey = t.TempDir(), ""
	const ns = topology.Namespace("yorkie-meta.documents")
	to := map[string]string{"shard-rs-1": "shard-rs-2", "shard-rs-2": "shard-rs-3", "shard-rs-3": "shard-rs-1"}
	for i, damage := range []func(){func() {}, func() {}, func() {
		must.Do(t, os.WriteFile(d.savedTable(t), []byte("shbdtbl1 is damaged"), 0o600))
	}} {
		d.stop(t)
		table := d.app.Watcher().Table()
		c := table.Collection(ns).Chunks.At(i)
		bounds := bson.A{must.Get(table.Collection(ns).Key.Document(c.Min)), must.Get(table.Collection(ns).Key.Document(c.Max))}
		d.admin(t, bson.D{{Key: "moveChunk", Value: string(ns)}, {Key: "bounds", Value: bounds}, {Key: "to", Value: to[c.Shard]}})
		damage()
		d.serve(t)
		d.waitReady(t)
		expect.Equal(t, d.app.Watcher().Table().Collection(ns).Chunks.Owner(i), to[c.Shard], "start %d: the shard of the chunk", i)
		said := strings.Contains(log.String(), "the saved routing table is not used")
		expect.Equal(t, said, i == 2, "start %d: the log says that the file is not used", i)
	}
}

// BenchmarkStartOfMillion is a start with a saved table of a million chunks, to the first overview and until it is
// verified.
func BenchmarkStartOfMillion(b *testing.B) {
	d := startDemo(b, simcluster.Options{Projects: 12, Documents: 300, Still: true, ManyChunks: 1_000_000}, topology.Options{})
	d.stop(b)
	d.config.DataDir, d.config.AuditKey = b.TempDir(), ""
	d.serve(b)
	d.waitReady(b)
	var shown time.Duration
	for b.Loop() {
		b.StopTimer()
		d.stop(b)
		b.StartTimer()
		began := time.Now()
		d.serve(b)
		d.get(b, "")
		shown += time.Since(began)
		d.waitReady(b)
	}
	b.ReportMetric(float64(shown.Milliseconds())/float64(b.N), "ms-to-overview")
}
