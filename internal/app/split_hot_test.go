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
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
)

// chunkBounds are the bounds of a collection's chunk, as a plan has them.
func chunkBounds(t testing.TB, c *topology.Collection, i int) (out [2]bson.Raw) {
	t.Helper()
	for side, key := range []shardkey.Key{c.Chunks.At(i).Min, c.Chunks.At(i).Max} {
		out[side] = must.Get(c.Key.Document(key))
	}
	return out
}

// While Yorkie's writers write and an operator moves chunks, the split point divides the rows that were really written:
// the newest rows, read independently of the heat collector.
func TestTheSplitPointHalvesTheWritesOfYorkie(t *testing.T) {
	only.Long(t, "simulates five minutes of a busy cluster")
	const ns = topology.Namespace("yorkie-meta.changes")
	synctest.Test(t, func(t *testing.T) {
		sim := must.Get(simcluster.New(t.Context(), simcluster.Options{ServerVersion: "7.0", Projects: 12, Documents: 300}))
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		must.Do(t, must.Err(sim.Command(t.Context(), "admin", bson.D{{Key: "balancerStop", Value: 1}})))
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		client := must.Get(cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim}))
		defer func() { _ = client.Close(context.Background()) }()
		db := must.Get(sqlite.Open(t.Context(), t.TempDir()))
		defer func() { _ = db.Close() }()
		prof, log := profile.Yorkie(), slog.New(slog.DiscardHandler)
		watcher := topology.NewWatcher(client, topology.Options{})
		keeper := placement.NewKeeper(client, watcher, prof, log)
		writes := heat.NewCollector(client, watcher, prof, heat.Options{Seed: 5})
		e := newEngine(engineParts{client: client, watcher: watcher, keeper: keeper, profile: prof, store: db, log: log,
			recent: recentWrites{writes, client}, writes: writeRates{writes},
			duplicates: placement.NewDuplicateCheck(client, watcher, keeper, prof, log)})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = watcher.Run(ctx) })
		all.Go(func() { _ = writes.Run(ctx) })
		defer func() { cancel(); all.Wait() }()

		begun := time.Now()
		time.Sleep(5 * time.Minute)
		must.Do(t, watcher.Refresh(t.Context()))
		c := watcher.Table().Collection(ns)
		lines := writes.Window(ns, heat.Recent).Chunks(watcher.Table(), prof)
		must.That(t, len(lines) != 0, "nothing was counted")
		hottest := lines[0].Chunk
		p, err := e.Plan(t.Context(), auth.Local(), engine.Request{Kind: actions.SplitHot, Reason: "it is hot",
			Args: actions.Args{NS: ns, Bounds: chunkBounds(t, c, hottest)}})
		must.Do(t, err)
		must.That(t, len(p.Args.Cuts) == 1, "no split point was chosen: %+v", p.Checks)
		at := must.Get(c.Key.Bound(p.Args.Cuts[0].At))

		rows, err := client.NewestRows(t.Context(),
			heat.NewestQuery{NS: ns, Key: []string{c.Key.Fields()[0].Name}, From: begun, Limit: 50_000})
		must.Do(t, err)
		chunk := shardkey.Range{Min: c.Chunks.At(hottest).Min, Max: c.Chunks.At(hottest).Max}
		written, most, below, n := 0, 0, 0, map[string]int{}
		for _, row := range rows {
			k := must.Get(c.Key.Extract(row.Doc))
			if !chunk.Contains(k) {
				continue
			}
			written++
			n[k.Encoded()]++
			most = max(most, n[k.Encoded()])
			if k.Compare(at) < 0 {
				below++
			}
		}
		expect.That(t, n[at.Encoded()] != 0 && below != 0 && below != written,
			"split at %s: %d rows with it, %d of %d below", c.Key.Display(at), n[at.Encoded()], below, written)
		off := max(2*below-written, written-2*below)
		expect.That(t, off <= most+written/10, "%d of %d rows are below the split point; one value has at most %d", below, written, most)
	})
}
