package heat_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/simulated"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

const db = "yorkie-meta"

// fixture is a collector that counts the writes of a simulated cluster. Tests write to the cluster.
type fixture struct {
	*simulated.Cluster
	collector *heat.Collector
	pictures  *keyvis.Recorder
}

func onSim(t *testing.T, o simcluster.Options, test func(t *testing.T, r *fixture)) {
	t.Helper()
	o.Projects, o.Documents = 15, 300
	simulated.Run(t, o, func(t *testing.T, c *simulated.Cluster) {
		defer simulated.Start(t, c.Watcher.Run)()
		r := &fixture{Cluster: c, pictures: keyvis.New(c.Watcher, nil, nil)}
		r.collector = heat.NewCollector(c.Client, c.Watcher, profile.Yorkie(), heat.Options{Seed: 3})
		r.collector.OnSlot(r.pictures.Take)
		defer simulated.Start(t, r.collector.Run)()
		test(t, r)
	})
}

func TestNewRowsOfEveryCollectionAreCountedCorrectly(t *testing.T) {
	for _, layout := range []string{"yorkie-head", "yorkie-0.4"} {
		onSim(t, simcluster.Options{Still: true, Layout: layout}, func(t *testing.T, r *fixture) {
			time.Sleep(12 * time.Second)
			docs := r.Rows(t, db+".documents")[:20]
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
					r.Insert(t, topology.Namespace(db+"."+coll), bson.D{{Key: "_id", Value: bson.NewObjectIDFromTimestamp(time.Now())},
						{Key: "project_id", Value: d.Lookup("project_id")}, {Key: "doc_id", Value: d.Lookup("_id")},
						{Key: "server_seq", Value: int64(100_000 + second)}, {Key: "actor_id", Value: d.Lookup("_id")},
						{Key: "name", Value: "n"}, {Key: "version", Value: int32(10 + second)}})
					want[coll]++
				}
				time.Sleep(time.Second)
			}
			time.Sleep(15 * time.Second)
			counted := r.collector.Counted(r.Watcher.Table())
			expect.Equal(t, len(counted), len(want), "%s: wrong set of counted collections %v", layout, counted)
			for coll, n := range want {
				w := r.collector.Window(topology.Namespace(db+"."+coll), 10*time.Minute)
				if w.Total.Rows != n || !w.Total.Exact {
					t.Errorf("%s, %s: %d rows, truth %d, exact %v", layout, coll, w.Total.Rows, n, w.Total.Exact)
				}
				var placed float64
				for _, l := range w.Chunks(r.Watcher.Table(), profile.Yorkie()) {
					placed += l.Rate.Share
				}
				if placed < 0.999 || placed > 1.001 {
					t.Errorf("%s, %s: the chunks' shares add up to %.3f, want 1", layout, coll, placed)
				}
				expect.That(t, len(r.collector.Load(w.NS)) != 0, "%s, %s: no shard's operations are known", layout, coll)
			}
		})
	}
}

// The demo's own writers update documents and clients in place all the time, each with
// a later date.
func TestUpdatedRowsAppearInTheHeatMapAndAreNeverOvercounted(t *testing.T) {
	onSim(t, simcluster.Options{}, func(t *testing.T, r *fixture) {
		began, minutes := time.Now(), 4
		if testing.Short() {
			minutes = 2
		}
		time.Sleep(time.Duration(minutes)*time.Minute + 5*time.Second)
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
				truth := int64(0)
				for _, row := range r.Rows(t, ns) {
					if at, ok := row.Lookup("updated_at").TimeOK(); ok && !at.Before(w.From) && row.Lookup("project_id").ObjectID() == l.Project {
						truth++
					}
				}
				if l.Rate.Rows > truth {
					t.Errorf("%s of %s: %d rows, only %d were changed since", coll, l.Project.Hex(), l.Rate.Rows, truth)
				}
			}
			v, ok := r.pictures.View(ns, keyvis.ByKey, began, time.Now())
			must.That(t, ok && len(v.Columns) >= minutes-1, "%s: the heat map has only %d columns", coll, len(v.Columns))
			known := 0
			for _, n := range v.Cells {
				expect.That(t, n != 0, "%s: a cell is 0 although its updates were not counted", coll)
				if n > 0 {
					known++
				}
			}
			expect.That(t, known != 0, "%s: the heat map is empty", coll)
		}
		for _, coll := range []string{"snapshots", "revisions"} {
			if w := r.collector.Window(topology.Namespace(db+"."+coll), 5*time.Minute); w.Total.Rows == 0 {
				t.Errorf("%s: no inserted rows, although the demo's writers insert some", coll)
			}
		}
		if read, limit := r.Log.Documents(began), int(time.Since(began).Seconds()*heat.PerSecond); read > limit {
			t.Errorf("%d documents were read, the limit is %d", read, limit)
		}
		// Per ten seconds one command for each of four collections; twice a minute the
		// shards' operation counters of these and two more; twenty counts of updated
		// rows a minute.
		if commands, most := len(r.Log.All()), (minutes+1)*(4*6+6*2+2*heat.HottestProjects+6); commands > most {
			t.Errorf("%d commands in %d minutes, want at most %d", commands, minutes, most)
		}
	})
}
