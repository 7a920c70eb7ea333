package enginetest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/cluster"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// batchBench is an engine over a simulated cluster, in real time.
type batchBench struct {
	*testing.B
	*engine.Engine
	sim *simcluster.Cluster
}

func startBatchBench(b *testing.B) *batchBench {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	sim, err := simcluster.New(b.Context(), simcluster.Options{Empty: true, Still: true})
	must(err)
	b.Cleanup(func() { _ = sim.Close() })
	sim.Start(b.Context())
	for _, cmd := range []bson.D{
		{{Key: "enableSharding", Value: "app"}, {Key: "primaryShard", Value: "shard-rs-1"}},
		{{Key: "shardCollection", Value: NS}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}},
	} {
		_, err := sim.Command(b.Context(), "admin", cmd)
		must(err)
	}
	uri, err := cluster.ParseURI(simcluster.URI())
	must(err)
	client, err := cluster.Connect(b.Context(), uri, cluster.Options{Dialer: sim})
	must(err)
	watcher := topology.NewWatcher(client, topology.Options{})
	_, err = watcher.Load(b.Context())
	must(err)
	h := NewDisk().Open()
	e := engine.New(engine.Options{Admin: client, Renderer: client, Reader: client, Planners: actions.Planners(), Journal: h, Audit: h,
		Tables: watcher, Profile: profile.Yorkie()})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Serve(ctx) }()
	b.Cleanup(func() {
		cancel()
		must(<-done)
		_ = client.Close(context.Background())
	})
	return &batchBench{b, e, sim}
}

// run plans and runs a batch of splits, the first at a key, and returns how long each took for an item.
func (b *batchBench) run(from, items int) (planning, running time.Duration) {
	b.Helper()
	var plans []actions.PlannedChange
	for i := range items {
		plans = append(plans, actions.PlannedChange{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(from + i)}})
	}
	begun := time.Now()
	q := engine.Request{Kind: actions.Batch, Args: actions.Args{Plans: plans, Group: 100}, Reason: "a test"}
	p, err := b.Engine.Plan(b.Context(), Anna, q)
	if err != nil {
		b.Fatal(err)
	}
	planning = time.Since(begun) / time.Duration(items)
	changed, end := b.Subscribe()
	defer end()
	begun = time.Now()
	run, _, err := b.Engine.Run(b.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
	for err == nil && run.State.Open() {
		select {
		case <-changed:
		case <-time.After(time.Second):
		}
		run, err = b.RunByID(b.Context(), run.ID)
	}
	if err != nil || run.State != engine.Succeeded || run.Batch.Done != items {
		b.Fatal(err, run.State, run.Why, fmt.Sprintf("%+v", run.Batch))
	}
	return planning, time.Since(begun) / time.Duration(items)
}

// BenchmarkBatch plans and runs a batch of 300 items, 1,000 with SHARDBOARD_LONG, and compares the cost of an item with
// that of one of a batch of 100 in the same process.
func BenchmarkBatch(b *testing.B) {
	r := startBatchBench(b)
	var plan, run [2]time.Duration
	from, many := 0, 300
	if os.Getenv("SHARDBOARD_LONG") != "" {
		many = actions.MostItems // 24 s each time
	}
	for b.Loop() {
		for i, items := range []int{100, many} {
			planning, running := r.run(from, items)
			plan[i], run[i] = plan[i]+planning, run[i]+running
			from += items
		}
	}
	b.ReportMetric(float64(plan[1].Microseconds())/float64(b.N), "planning-µs/item")
	b.ReportMetric(float64(run[1].Microseconds())/float64(b.N), "running-µs/item")
	b.ReportMetric(float64(plan[1])/float64(plan[0]), "planning-ratio-to-100")
	b.ReportMetric(float64(run[1])/float64(run[0]), "running-ratio-to-100")
}
