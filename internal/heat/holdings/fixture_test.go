package holdings_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/cluster"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const db = "yorkie-meta"

// reads are the documents that the cluster returned to the driver, with their times.
type reads struct {
	mu   sync.Mutex
	list []returned
}

type returned struct {
	at        time.Time
	documents int
}

func (r *reads) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
		if e.DatabaseName != db || e.CommandName != "aggregate" && e.CommandName != "getMore" {
			return // statistics are not part of it
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, name := range []string{"firstBatch", "nextBatch"} {
			if list, ok := e.Reply.Lookup("cursor", name).ArrayOK(); ok {
				rows, _ := list.Values()
				r.list = append(r.list, returned{time.Now(), len(rows)})
			}
		}
	}}
}

// busiest returns the most documents and commands of any minute.
func (r *reads) busiest() (documents, commands int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, from := range r.list {
		sum, n := 0, 0
		for _, x := range r.list[i:] {
			if x.at.Sub(from.at) < time.Minute {
				sum, n = sum+x.documents, n+1
			}
		}
		documents, commands = max(documents, sum), max(commands, n)
	}
	return documents, commands
}

func (r *reads) since(at time.Time) (documents int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.list {
		if !x.at.Before(at) {
			documents += x.documents
		}
	}
	return documents
}

// fixture is an engine on a simulated cluster in a synctest bubble.
type fixture struct {
	sim     *simcluster.Cluster
	client  *cluster.Client // of the engine
	watcher *topology.Watcher
	engine  *holdings.Engine
	reads   reads
	end     func() // stops Run and waits for its return
}

func onSim(t *testing.T, o simcluster.Options, ho holdings.Options, test func(t *testing.T, r *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Still = true
		sim, err := simcluster.New(t.Context(), o)
		must(t, err)
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		r := &fixture{sim: sim}
		uri, err := cluster.ParseURI(simcluster.URI())
		must(t, err)
		watching, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
		must(t, err)
		defer func() { _ = watching.Close(context.Background()) }()
		r.client, err = cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim, Monitor: r.reads.monitor()})
		must(t, err)
		defer func() { _ = r.client.Close(context.Background()) }()
		r.watcher = topology.NewWatcher(watching, topology.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = r.watcher.Run(ctx) })
		defer func() { cancel(); all.Wait() }()
		time.Sleep(70 * time.Second) // until the sizes of all collections are read
		r.start(t, r.client, ho)
		defer func() { r.end() }()
		test(t, r)
	})
}

// start creates and runs an engine, as a new process does.
func (r *fixture) start(t *testing.T, src survey.Source, o holdings.Options) {
	r.engine = holdings.New(src, r.watcher, profile.Yorkie(), o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.engine.Run(ctx) }()
	var once sync.Once
	r.end = func() { once.Do(func() { cancel(); must(t, <-done) }) }
}

func (r *fixture) snapshot() *holdings.Snapshot { return r.engine.Snapshot(r.watcher.Table()) }

func (r *fixture) collection(t *testing.T, name string) holdings.Collection {
	t.Helper()
	for _, c := range r.snapshot().Collections {
		if c.NS.Collection() == name {
			return c
		}
	}
	t.Fatalf("no collection %s", name)
	return holdings.Collection{}
}

type place struct {
	project bson.ObjectID
	shard   string
}

type weight struct{ rows, bytes int64 }

// truth reads every row of the measured collections directly from the simulator and sums them by
// project and shard, as the newest table places them.
func (r *fixture) truth(t *testing.T, names ...string) map[place]weight {
	t.Helper()
	out := map[place]weight{}
	for _, name := range names {
		c := r.watcher.Table().Collection(topology.Namespace(db + "." + name))
		for _, doc := range r.rows(t, name) {
			shard := r.watcher.Table().Primary(db)
			if c != nil {
				k, err := c.Key.Extract(doc)
				must(t, err)
				_, chunk := c.Chunks.Find(k)
				shard = chunk.Shard
			}
			p := place{doc.Lookup("project_id").ObjectID(), shard}
			w := out[p]
			out[p] = weight{w.rows + 1, w.bytes + int64(len(doc))}
		}
	}
	return out
}

func (r *fixture) rows(t *testing.T, coll string) (out []bson.Raw) {
	t.Helper()
	reply, err := r.sim.Command(t.Context(), db, bson.D{{Key: "find", Value: coll}, {Key: "batchSize", Value: 1 << 30}})
	must(t, err)
	for {
		list, ok := reply.Lookup("cursor", "firstBatch").ArrayOK()
		if !ok {
			list = reply.Lookup("cursor", "nextBatch").Array()
		}
		rows, err := list.Values()
		must(t, err)
		for _, v := range rows {
			out = append(out, v.Document())
		}
		cursor := reply.Lookup("cursor", "id").Int64()
		if cursor == 0 {
			return out
		}
		reply, err = r.sim.Command(t.Context(), db, bson.D{{Key: "getMore", Value: cursor}, {Key: "collection", Value: coll}})
		must(t, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
