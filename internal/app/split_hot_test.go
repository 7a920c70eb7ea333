package app

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// workload has the parts of the program over a simulated cluster that gets writes.
type workload struct {
	*testing.T
	sim     *simcluster.Cluster
	client  *cluster.Client
	watcher *topology.Watcher
	heat    *heat.Collector
	engine  *engine.Engine
}

// withWorkload runs a test in a synctest bubble with the balancer off.
func withWorkload(t *testing.T, o simcluster.Options, test func(w *workload)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &workload{T: t}
		var err error
		w.sim, err = simcluster.New(t.Context(), o)
		w.must(err)
		defer func() { _ = w.sim.Close() }()
		w.sim.Start(t.Context())
		_, err = w.sim.Command(t.Context(), "admin", bson.D{{Key: "balancerStop", Value: 1}})
		w.must(err)
		uri, err := cluster.ParseURI(simcluster.URI())
		w.must(err)
		w.client, err = cluster.Connect(t.Context(), uri, cluster.Options{Dialer: w.sim})
		w.must(err)
		defer func() { _ = w.client.Close(context.Background()) }()
		db, err := sqlite.Open(t.Context(), t.TempDir())
		w.must(err)
		defer func() { _ = db.Close() }()
		prof, log := profile.Yorkie(), slog.New(slog.DiscardHandler)
		w.watcher = topology.NewWatcher(w.client, topology.Options{})
		keeper := placement.NewKeeper(w.client, w.watcher, prof, log)
		w.heat = heat.NewCollector(w.client, w.watcher, prof, heat.Options{Seed: 5})
		w.engine = newEngine(engineParts{client: w.client, watcher: w.watcher, keeper: keeper, profile: prof, store: db, log: log,
			recent: recentWrites{w.heat, w.client}, writes: writeRates{w.heat},
			duplicates: placement.NewDuplicateCheck(w.client, w.watcher, keeper, prof, log)})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, run := range []func(context.Context) error{w.watcher.Run, w.heat.Run} {
			all.Go(func() { _ = run(ctx) })
		}
		defer func() { cancel(); all.Wait() }()
		test(w)
	})
}

func (w *workload) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *workload) plan(a actions.Args) actions.Plan {
	w.Helper()
	p, err := w.engine.Plan(w.Context(), auth.Local(), engine.Request{Kind: actions.SplitHot, Args: a, Reason: "it is hot"})
	w.must(err)
	return p
}

func (w *workload) bounds(c *topology.Collection, i int) [2]bson.Raw {
	ch := c.Chunks.At(i)
	lo, err := c.Key.Document(ch.Min)
	w.must(err)
	hi, err := c.Key.Document(ch.Max)
	w.must(err)
	return [2]bson.Raw{lo, hi}
}

// hottest returns the index of the chunk with the most writes.
func (w *workload) hottest(ns topology.Namespace) int {
	w.Helper()
	lines := w.heat.Window(ns, heat.Recent).Chunks(w.watcher.Table(), profile.Yorkie())
	if len(lines) == 0 {
		w.Fatal("nothing was counted")
	}
	return lines[0].Chunk
}

// writtenSince returns the keys of rows created since a time, read independently of the
// heat collector.
func (w *workload) writtenSince(c *topology.Collection, since time.Time, r shardkey.Range) (keys []shardkey.Key) {
	w.Helper()
	rows, err := w.client.NewestRows(
		w.Context(),
		heat.NewestQuery{NS: c.NS, Key: []string{c.Key.Fields()[0].Name}, From: since, Limit: 50_000},
	)
	w.must(err)
	for _, row := range rows {
		k, err := c.Key.Extract(row.Doc)
		w.must(err)
		if r.Contains(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// While Yorkie's writers write and an operator moves chunks, the split point divides the rows that were really written.
func TestTheSplitPointHalvesTheWritesOfYorkie(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates five minutes of a busy cluster")
	}
	const ns = topology.Namespace("yorkie-meta.changes")
	withWorkload(t, simcluster.Options{ServerVersion: "7.0", Projects: 12, Documents: 300}, func(w *workload) {
		begun := time.Now()
		time.Sleep(5 * time.Minute)
		w.must(w.watcher.Refresh(w.Context()))
		c := w.watcher.Table().Collection(ns)
		i := w.hottest(ns)
		chunk := c.Chunks.At(i)
		p := w.plan(actions.Args{NS: ns, Bounds: w.bounds(c, i)})
		if len(p.Args.Cuts) != 1 {
			w.Fatalf("no split point was chosen: %+v", p.Checks)
		}
		at, err := c.Key.Bound(p.Args.Cuts[0].At)
		w.must(err)
		truth := w.writtenSince(c, begun, shardkey.Range{Min: chunk.Min, Max: chunk.Max})
		most, below, n := 0, 0, map[string]int{}
		for _, k := range truth {
			n[k.Encoded()]++
			most = max(most, n[k.Encoded()])
			if k.Compare(at) < 0 {
				below++
			}
		}
		if n[at.Encoded()] == 0 || below == 0 || below == len(truth) {
			w.Errorf("split at %s: %d rows with it, %d of %d below", c.Key.Display(at), n[at.Encoded()], below, len(truth))
		}
		if off := max(2*below-len(truth), len(truth)-2*below); off > most+len(truth)/10 {
			w.Errorf("%d of %d rows are below the split point; one value has at most %d", below, len(truth), most)
		}
	})
}
