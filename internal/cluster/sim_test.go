package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

var _ topology.Source = (*cluster.Client)(nil)

// counter records the commands that the driver sends.
type counter struct {
	mu   sync.Mutex
	seen []string
}

func (c *counter) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = append(c.seen, e.DatabaseName+"."+e.CommandName)
	}}
}

// take returns the commands sent since the last call.
func (c *counter) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.seen
	c.seen = nil
	return out
}

// onSim runs a test with a simulated cluster and a client in a synctest bubble, so that
// waiting takes no real time.
func onSim(t *testing.T, o simcluster.Options, test func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, sent *counter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri, err := cluster.ParseURI(simcluster.URI())
		if err != nil {
			t.Fatal(err)
		}
		var sent counter
		c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim, Monitor: sent.monitor()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.Background()) }()
		test(t, sim, c, &sent)
	})
}

func run(t *testing.T, sim *simcluster.Cluster, db string, cmd bson.D) error {
	t.Helper()
	_, err := sim.Command(t.Context(), db, cmd)
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestIdleRoutingPollIsOneCommandAndSlowPollAtMostSeven(t *testing.T) {
	cfg := simcluster.Options{Projects: 5, Documents: 50, Still: true}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, sent *counter) {
		w := topology.NewWatcher(c, topology.Options{Statistics: 24 * time.Hour, Sweep: 24 * time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		defer func() { cancel(); must(t, <-done) }()
		time.Sleep(5*time.Minute + time.Second) // until all sizes were read once
		synctest.Wait()
		if !w.Table().Loaded {
			t.Fatalf("not loaded: %+v", w.Table().Health)
		}
		for p, h := range w.Table().Health {
			if h.Err != nil || h.Note != "" {
				t.Errorf("%s: %v %s", p, h.Err, h.Note)
			}
		}
		sent.take()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		count := map[string]int{}
		for _, name := range sent.take() {
			count[name]++
		}
		total := 0
		for _, n := range count {
			total += n
		}
		if count["config.aggregate"] != 10 || total > 10+10+2*7 {
			t.Errorf("20 idle seconds sent %v: want 10 routing polls and 10 of what moves of one command each, and two slow "+
				"polls of at most 7", count)
		}
		seq := w.Table().Seq
		time.Sleep(time.Minute)
		if w.Table().Seq != seq {
			t.Errorf("a still cluster published %d tables in a minute", w.Table().Seq-seq)
		}
		if n, want := c.LoadPerMinute(), len(sent.take()); n < want-2 || n > want+2 {
			t.Errorf("the client says %d commands a minute, the monitor saw %d", n, want)
		}
	})
}

func TestLoadedTableEqualsTheCluster(t *testing.T) {
	cfg := simcluster.Options{Projects: 10, Documents: 200, Still: true}
	onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		must(t, run(t, sim, "admin", bson.D{{Key: "addShardToZone", Value: "shard-rs-1"}, {Key: "zone", Value: "eu"}}))
		table, err := topology.NewWatcher(c, topology.Options{}).Load(t.Context())
		must(t, err)
		if len(table.Shards) != 3 || table.Shards[0].Zones[0] != "eu" || len(table.ClusterID) != 24 || table.Primary("yorkie-meta") == "" {
			t.Errorf("shards %+v, cluster %q, primary %q", table.Shards, table.ClusterID, table.Primary("yorkie-meta"))
		}
		documents := table.Collection("yorkie-meta.documents")
		if documents == nil || documents.Key.String() != "{project_id: 1}" || documents.Chunks.Len() == 0 {
			t.Fatalf("documents: %+v", documents)
		}
		if table.Balancer.Enabled() || table.Balancer.ChunkBytes == 0 || len(table.Routers) == 0 || len(table.Events) == 0 {
			t.Errorf("balancer %+v, %d routers, %d events", table.Balancer, len(table.Routers), len(table.Events))
		}
		for i := 1; i < len(table.Events); i++ {
			if table.Events[i].Time.After(table.Events[i-1].Time) {
				t.Error("events are not newest first")
				break
			}
		}
		names, err := c.Collections(t.Context(), "yorkie-meta")
		must(t, err)
		if !slices.Contains(names, "yorkie-meta.projects") {
			t.Errorf("collections %v", names)
		}
		sizes, err := c.Sizes(t.Context(), "yorkie-meta.documents")
		must(t, err)
		var docs int64
		for name, s := range sizes.Shards {
			if !s.Bytes.Known || table.Shard(name) == nil {
				t.Errorf("%s: %+v", name, s)
			}
			docs += s.Documents.Value
		}
		if docs < 200 {
			t.Errorf("%d documents counted, want 200", docs)
		}
		if _, err := c.AllSizes(t.Context()); fault.Of(err) != fault.NotFound {
			t.Errorf("5.0 has no $shardedDataDistribution, got %v", err)
		}
	})
}

func TestProjectsAreReadWithoutTheirSecrets(t *testing.T) {
	cfg := simcluster.Options{Projects: 10, Documents: 200, Still: true}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
		ctx := t.Context()
		all, err := c.Projects(ctx, "yorkie-meta", profile.Yorkie().Names, bson.ObjectID{}, true)
		must(t, err)
		if len(all) < 10 || all[0].Name == "" || all[0].PublicKey == "" || all[len(all)-1].Documents == nil {
			t.Fatalf("%d projects, first %+v", len(all), all[0])
		}
		rest, err := c.Projects(ctx, "yorkie-meta", profile.Yorkie().Names, all[4].ID, false)
		must(t, err)
		if len(rest) != len(all)-5 || rest[0].ID != all[5].ID {
			t.Errorf("%d projects after the fifth of %d", len(rest), len(all))
		}
		table, err := topology.NewWatcher(c, topology.Options{}).Load(ctx)
		must(t, err)
		found := 0
		for _, p := range all {
			docs := table.Collection("yorkie-meta.documents")
			typ, value, err := bson.MarshalValue(p.ID)
			must(t, err)
			k, err := docs.Key.KeyOf(bson.RawValue{Type: typ, Value: value})
			must(t, err)
			_, chunk := docs.Chunks.Find(k)
			target, err := c.TargetShards(ctx, "yorkie-meta.documents", bson.D{{Key: "project_id", Value: bson.D{{Key: "$eq", Value: p.ID}}}})
			must(t, err)
			if !slices.Equal(target, []string{chunk.Shard}) {
				t.Errorf("project %s: our table says %s, the mongos %v", p.Name, chunk.Shard, target)
			}
			found++
		}
		if found == 0 {
			t.Error("nothing compared")
		}
		if rows, err := c.DocumentsByKey(ctx, "yorkie-meta", profile.Yorkie().Keys, all[0].ID, "no such key", 5); err != nil || len(rows) != 0 {
			t.Errorf("%v, %v", rows, err)
		}
		if rows, err := c.ByID(ctx, "yorkie-meta", profile.Yorkie().RowFields("projects"), all[3].ID, 5); err != nil ||
			len(rows) != 1 || rows[0].ID != all[3].ID {
			t.Errorf("%v, %v", rows, err)
		}
	})
}

func TestCountStopsOneAboveItsLimit(t *testing.T) {
	cfg := simcluster.Options{Projects: 3, Documents: 40, Still: true}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
		all, err := c.Count(t.Context(), "yorkie-meta.documents", bson.D{})
		if err != nil || all < 10 {
			t.Fatalf("%d documents, %v", all, err)
		}
		empty := bson.Raw{5, 0, 0, 0, 0}
		for most, want := range map[int64]int64{0: 1, 7: 8, all - 1: all, all: all, 100_000: all} {
			if n, err := c.CountUpTo(t.Context(), "yorkie-meta.documents", empty, most); err != nil || n != want {
				t.Errorf("up to %d of %d: %d, %v", most, all, n, err)
			}
		}
	})
}
