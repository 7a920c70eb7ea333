package heat_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const db = "yorkie-meta"

// commandCounter counts what the cluster returned to heat, and how often it was asked.
type commandCounter struct {
	mu                 sync.Mutex
	returned, commands int
}

func (p *commandCounter) counts() (returned, commands int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.returned, p.commands
}

func (p *commandCounter) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
		if e.DatabaseName != db {
			return // reads of the routing table do not count
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.commands++
		for _, name := range []string{"firstBatch", "nextBatch"} {
			if list, ok := e.Reply.Lookup("cursor", name).ArrayOK(); ok {
				rows, _ := list.Values()
				p.returned += len(rows)
			}
		}
	}}
}

// fixture is a collector that counts the writes of a simulated cluster. Tests write to
// the cluster.
type fixture struct {
	sim       *simcluster.Cluster
	db        *mongo.Database
	watcher   *topology.Watcher
	collector *heat.Collector
	pictures  *keyvis.Recorder
	tap       commandCounter
}

func onSim(t *testing.T, o simcluster.Options, test func(t *testing.T, r *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Projects, o.Documents = 15, 300
		sim, err := simcluster.New(t.Context(), o)
		must.Do(t, err)
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		r := &fixture{sim: sim}
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		watching, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
		must.Do(t, err)
		defer func() { _ = watching.Close(context.Background()) }()
		client, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim, Monitor: r.tap.monitor()})
		must.Do(t, err)
		defer func() { _ = client.Close(context.Background()) }()
		writer, err := mongo.Connect(options.Client().ApplyURI(simcluster.URI()).SetDialer(sim).SetServerMonitoringMode("poll"))
		must.Do(t, err)
		defer func() { _ = writer.Disconnect(context.Background()) }()
		r.db = writer.Database(db)
		r.watcher = topology.NewWatcher(watching, topology.Options{})
		r.pictures = keyvis.New(r.watcher, nil, nil)
		r.collector = heat.NewCollector(client, r.watcher, profile.Yorkie(), heat.Options{Seed: 3})
		r.collector.OnSlot(r.pictures.Take)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = r.watcher.Run(ctx) })
		all.Go(func() { _ = r.collector.Run(ctx) })
		defer func() { cancel(); all.Wait() }()
		test(t, r)
	})
}

// someDocuments returns ids of Yorkie documents with their projects.
func (r *fixture) someDocuments(t *testing.T, n int64) (out []struct {
	ID      bson.ObjectID `bson:"_id"`
	Project bson.ObjectID `bson:"project_id"`
}) {
	t.Helper()
	rows, err := r.db.Collection(
		"documents",
	).Find(
		t.Context(),
		bson.D{},
		options.Find().SetLimit(n).SetProjection(bson.D{{Key: "project_id", Value: 1}}),
	)
	must.Do(t, err)
	must.Do(t, rows.All(t.Context(), &out))
	return out
}

func TestNewRowsOfEveryCollectionAreCountedCorrectly(t *testing.T) {
	for _, layout := range []string{"yorkie-head", "yorkie-0.4"} {
		onSim(t, simcluster.Options{Still: true, Layout: layout}, func(t *testing.T, r *fixture) {
			time.Sleep(12 * time.Second)
			docs := r.someDocuments(t, 20)
			want := map[string]int64{"changes": 0, "snapshots": 0}
			if layout == "yorkie-head" {
				want["revisions"], want["schemas"] = 0, 0
			}
			for second := range 120 {
				for coll := range want {
					if coll != "changes" && second%5 != 0 {
						continue
					}
					d := docs[second%len(docs)]
					row := bson.D{
						{Key: "_id", Value: bson.NewObjectIDFromTimestamp(time.Now())},
						{Key: "project_id", Value: d.Project},
						{Key: "doc_id", Value: d.ID},
						{
							Key:   "server_seq",
							Value: int64(100_000 + second),
						},
						{Key: "actor_id", Value: d.ID},
						{Key: "name", Value: "n"},
						{Key: "version", Value: int32(10 + second)},
					}
					_, err := r.db.Collection(coll).InsertOne(t.Context(), row)
					must.Do(t, err)
					want[coll]++
				}
				time.Sleep(time.Second)
			}
			time.Sleep(15 * time.Second)
			counted := r.collector.Counted(r.watcher.Table())
			if len(counted) != len(want) {
				t.Errorf("%s: wrong set of counted collections %v", layout, counted)
			}
			for coll, n := range want {
				w := r.collector.Window(topology.Namespace(db+"."+coll), 10*time.Minute)
				if w.Total.Rows != n || !w.Total.Exact {
					t.Errorf("%s, %s: %d rows, truth %d, exact %v", layout, coll, w.Total.Rows, n, w.Total.Exact)
				}
				var placed float64
				for _, l := range w.Chunks(r.watcher.Table(), profile.Yorkie()) {
					placed += l.Rate.Share
				}
				if placed < 0.999 || placed > 1.001 {
					t.Errorf("%s, %s: the chunks' shares add up to %.3f, want 1", layout, coll, placed)
				}
				if len(r.collector.Load(w.NS)) == 0 {
					t.Errorf("%s, %s: no shard's operations are known", layout, coll)
				}
			}
		})
	}
}

// The demo's own writers update documents and clients in place all the time, each with
// a later date.
func TestUpdatedRowsAppearInTheHeatMapAndAreNeverOvercounted(t *testing.T) {
	onSim(t, simcluster.Options{}, func(t *testing.T, r *fixture) {
		before, _ := r.tap.counts()
		began := time.Now()
		for time.Since(began) < 4*time.Minute+5*time.Second {
			time.Sleep(time.Minute / 4)
		}
		for _, coll := range []string{"documents", "clients"} {
			ns := topology.Namespace(db + "." + coll)
			w := r.collector.Window(ns, heat.Shortest)
			if w.Method != heat.ChangedRows || w.Seconds != 60 || w.Total.Rows == 0 || w.Total.Exact || !w.Total.AtLeast {
				t.Errorf("%s: %+v", coll, w)
			}
			projects := w.Projects()
			if len(projects) == 0 || len(projects) > heat.HottestProjects {
				t.Errorf("%s: unexpected number of projects %d", coll, len(projects))
			}
			// Each counted row was updated again later, so at least as many rows have a
			// date in this minute or after it.
			for _, l := range projects {
				truth, err := r.db.Collection(
					coll,
				).CountDocuments(
					t.Context(),
					bson.D{{Key: "project_id", Value: l.Project}, {Key: "updated_at", Value: bson.D{{Key: "$gte", Value: w.From}}}},
				)
				must.Do(t, err)
				if l.Rate.Rows > truth {
					t.Errorf("%s of %s: %d rows, only %d were changed since", coll, l.Project.Hex(), l.Rate.Rows, truth)
				}
			}
			v, ok := r.pictures.View(ns, keyvis.ByKey, began, time.Now())
			if !ok || len(v.Columns) < 3 {
				t.Fatalf("%s: the heat map has only %d columns", coll, len(v.Columns))
			}
			known := 0
			for _, n := range v.Cells {
				if n == 0 {
					t.Errorf("%s: a cell is 0 although its updates were not counted", coll)
				}
				if n > 0 {
					known++
				}
			}
			if known == 0 {
				t.Errorf("%s: the heat map is empty", coll)
			}
		}
		for _, coll := range []string{"snapshots", "revisions"} {
			if w := r.collector.Window(topology.Namespace(db+"."+coll), 5*time.Minute); w.Total.Rows == 0 {
				t.Errorf("%s: no inserted rows, although the demo's writers insert some", coll)
			}
		}
		returned, commands := r.tap.counts()
		if read, limit := returned-before, int(time.Since(began).Seconds()*heat.PerSecond); read > limit {
			t.Errorf("%d documents were read, the limit is %d", read, limit)
		}
		// Per ten seconds one command for each of four collections; twice a minute the
		// shards' operation counters of these and two more; twenty counts of updated
		// rows a minute.
		if most := 4 * (4*6 + 6*2 + 2*heat.HottestProjects + 6); commands > most {
			t.Errorf("%d commands in four minutes, want at most %d", commands, most)
		}
	})
}
