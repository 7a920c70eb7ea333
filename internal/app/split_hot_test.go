package app

import (
	"context"
	"log/slog"
	"slices"
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
	db      *sqlite.DB
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
		w.db, err = sqlite.Open(t.Context(), t.TempDir())
		w.must(err)
		defer func() { _ = w.db.Close() }()
		prof, log := profile.Yorkie(), slog.New(slog.DiscardHandler)
		w.watcher = topology.NewWatcher(w.client, topology.Options{})
		keeper := placement.NewKeeper(w.client, w.watcher, prof, log)
		w.heat = heat.NewCollector(w.client, w.watcher, prof, heat.Options{Seed: 5})
		w.engine = newEngine(engineParts{client: w.client, watcher: w.watcher, keeper: keeper, profile: prof, store: w.db, log: log,
			recent: recentWrites{
				w.heat,
				w.client,
			}, writes: writeRates{w.heat}, duplicates: placement.NewDuplicateCheck(w.client, w.watcher, keeper, prof, log)})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, run := range []func(context.Context) error{w.watcher.Run, w.heat.Run, w.engine.Serve} {
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

func (w *workload) run(p actions.Plan) engine.Run {
	w.Helper()
	run, _, err := w.engine.Run(w.Context(), auth.Local(), p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
	w.must(err)
	for run.State.Open() {
		time.Sleep(time.Second)
		run, err = w.engine.RunByID(w.Context(), run.ID)
		w.must(err)
	}
	if run.State != engine.Succeeded {
		w.Fatalf("the run ended as %s: %v, steps %+v", run.State, run.Why, run.Steps)
	}
	kept, err := w.db.RunRecord(w.Context(), run.ID)
	w.must(err)
	intents, err := w.db.Intents(w.Context(), run.ID)
	w.must(err)
	if kept.Open || kept.State != string(engine.Succeeded) || len(intents) < len(p.Commands) {
		w.Errorf("the stored run is %+v, with %d intents for %d commands", kept, len(intents), len(p.Commands))
	}
	w.must(w.watcher.Refresh(w.Context()))
	return run
}

func (w *workload) bounds(c *topology.Collection, i int) [2]bson.Raw {
	ch := c.Chunks.At(i)
	lo, err := c.Key.Document(ch.Min)
	w.must(err)
	hi, err := c.Key.Document(ch.Max)
	w.must(err)
	return [2]bson.Raw{lo, hi}
}

// chunkOwners returns the lower bound and shard of each chunk.
func chunkOwners(c *topology.Collection) (out []string) {
	for _, ch := range c.Chunks.All() {
		out = append(out, c.Key.Display(ch.Min)+" "+ch.Shard)
	}
	return out
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

// documentsOf returns n documents of one chunk of changes, in the order of their keys.
func (w *workload) documentsOf(c *topology.Collection, i, n int) []bson.ObjectID {
	type doc struct {
		id  bson.ObjectID
		key shardkey.Key
	}
	var docs []doc
	for k := range 100_000 {
		id := bson.ObjectID{0: 1, 9: byte(k >> 16), 10: byte(k >> 8), 11: byte(k)}
		key, err := c.Key.KeyOf(placement.ObjectIDValue(id))
		w.must(err)
		if at, _ := c.Chunks.Find(key); at == i {
			docs = append(docs, doc{id, key})
		}
		if len(docs) == n {
			break
		}
	}
	slices.SortFunc(docs, func(a, b doc) int { return a.key.Compare(b.key) })
	var out []bson.ObjectID
	for _, d := range docs {
		out = append(out, d.id)
	}
	return out
}

// write inserts changes for some time: each[i] changes per second for document i.
func (w *workload) write(during time.Duration, project bson.ObjectID, docs []bson.ObjectID, each []int) {
	w.Helper()
	seq := int64(time.Now().UnixMilli())
	for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(time.Second) {
		rows := bson.A{}
		for i, d := range docs {
			for range each[i] {
				seq++
				rows = append(
					rows,
					bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(time.Now())}, {Key: "project_id", Value: project}, {Key: "doc_id", Value: d},
						{Key: "server_seq", Value: seq}, {Key: "actor_id", Value: d}},
				)
			}
		}
		_, err := w.sim.Command(w.Context(), "yorkie-meta", bson.D{{Key: "insert", Value: "changes"}, {Key: "documents", Value: rows}})
		w.must(err)
	}
}

// With known writes, this checks the split point, the half that moves, its target, the
// expected effect and the undo.
func TestSplittingAHotChunkDividesItsWrites(t *testing.T) {
	const ns = topology.Namespace("yorkie-meta.changes")
	versions := []string{"5.0"}
	if !testing.Short() {
		versions = append(versions, "8.0")
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			o := quietCluster()
			o.ServerVersion = version
			withWorkload(t, o, func(w *workload) {
				time.Sleep(time.Minute)
				c := w.watcher.Table().Collection(ns)
				const hot = 2
				chunk, before := c.Chunks.At(hot), chunkOwners(c)
				docs := w.documentsOf(c, hot, 6)
				// 10 rows a second: 2, 2 and 1 below the fourth document, which has 3; then 1 and 1.
				w.write(3*time.Minute, bson.ObjectID{0: 7}, docs, []int{2, 2, 1, 3, 1, 1})
				time.Sleep(20 * time.Second)
				if i := w.hottest(ns); i != hot {
					t.Fatalf("chunk %d is the hottest", i)
				}
				p := w.plan(actions.Args{NS: ns, Bounds: w.bounds(c, hot)})
				if p.Blocked() || len(p.Args.Cuts) != 1 {
					t.Fatalf("the plan is blocked: %+v", p.Checks)
				}
				cut := p.Args.Cuts[0]
				at, err := c.Key.Bound(cut.At)
				w.must(err)
				want, err := c.Key.KeyOf(placement.ObjectIDValue(docs[3]))
				w.must(err)
				if at.Compare(want) != 0 {
					t.Errorf("split at %s, want %s", c.Key.Display(at), c.Key.Display(want))
				}
				shares := map[string]float64{}
				for _, e := range p.Effect.Writes {
					shares[e.Shard] = e.After / max(e.Before, 1e-9)
					if e.Shard == chunk.Shard && (shares[e.Shard] < 0.45 || shares[e.Shard] > 0.55) || e.Shard == cut.To && e.After <= e.Before {
						t.Errorf("unexpected effect: %+v", e)
					}
				}
				run := w.run(p)
				after := w.watcher.Table().Collection(ns)
				lo, _ := after.Chunks.Find(chunk.Min)
				hi, _ := after.Chunks.Find(at)
				moved, kept := hi, lo
				if cut.Half == actions.HalfLower {
					moved, kept = lo, hi
				}
				if hi != lo+1 || after.Chunks.At(hi).Min.Compare(at) != 0 || after.Chunks.Owner(moved) != cut.To ||
					after.Chunks.Owner(kept) != chunk.Shard {
					t.Fatalf("unexpected chunk owners: %v", chunkOwners(after))
				}
				// Planning the same again leaves nothing to do.
				if again := w.plan(p.Args); len(again.Steps) != 0 || !again.Blocked() {
					t.Errorf("the repeated plan has %d steps, expected none", len(again.Steps))
				}
				undo, err := w.engine.Undo(w.Context(), auth.Local(), run.ID, "")
				w.must(err)
				if undo.Blocked() {
					t.Fatalf("unexpected checks of the undo: %+v", undo.Checks)
				}
				w.run(undo)
				if got := chunkOwners(w.watcher.Table().Collection(ns)); !slices.Equal(got, before) {
					t.Errorf("after the undo the owners are\n%v\nexpected\n%v", got, before)
				}
			})
		})
	}
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
