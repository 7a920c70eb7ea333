package balancer_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/balancer"
	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
)

// world is a cluster with one ranged collection, db.t on {p: 1}.
type world struct {
	t    *testing.T
	c    *catalog.Cluster
	stop []func()
}

// onCluster runs a scenario in a synctest bubble; the cluster's time starts at noon UTC.
func onCluster(t *testing.T, scenario func(t *testing.T, w *world)) {
	onVersion(t, [3]int{5, 0, 7}, scenario)
}

func onVersion(t *testing.T, version [3]int, scenario func(t *testing.T, w *world)) {
	onClusterWith(t, catalog.Options{Version: version}, scenario)
}

func onClusterWith(t *testing.T, o catalog.Options, scenario func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		o.Seed, o.Start = 3, time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		c := catalog.New(o)
		defer c.Close()
		w := &world{t: t, c: c}
		w.mustRun(`{"enableSharding": "db", "primaryShard": "shard-rs-1"}`)
		w.mustRun(`{"shardCollection": "db.t", "key": {"p": 1}}`)
		defer func() {
			for _, stop := range w.stop {
				stop()
			}
		}()
		scenario(t, w)
	})
}

// startBalancer runs a balancer until the end of the scenario.
func (w *world) startBalancer() {
	ctx, stop := context.WithCancel(w.t.Context())
	b := balancer.New(w.c, balancer.Options{Seed: 1})
	var running sync.WaitGroup
	running.Go(func() { b.Run(ctx) })
	running.Go(func() { w.c.Run(ctx) })
	w.stop = append(w.stop, stop, running.Wait)
}

func (w *world) mustRun(cmd string) bson.D {
	w.t.Helper()
	var raw bson.Raw
	must.Do(w.t, bson.UnmarshalExtJSON([]byte(cmd), false, &raw))
	e := raw.Index(0)
	reply, err := w.c.Handlers()[e.Key()](context.Background(), &engine.Request{DB: "admin", Name: e.Key(), Body: raw})
	must.That(w.t, err == nil, "%s: %v", cmd, err)
	return reply
}

func (w *world) split(at ...int) {
	for _, p := range at {
		d, _ := bson.Marshal(bson.D{{Key: "p", Value: int32(p)}})
		w.c.Mu.Lock()
		err := w.c.SplitChunk("db.t", d, []bson.Raw{d})
		w.c.Mu.Unlock()
		must.Do(w.t, err)
	}
}

// insertAtKey inserts n documents of about a kilobyte with the same key.
func (w *world) insertAtKey(key, n int) {
	w.c.Mu.Lock()
	defer w.c.Mu.Unlock()
	coll := w.c.Shards["shard-rs-1"].Coll("db", "t")
	for range n {
		d, _ := bson.Marshal(bson.D{{Key: "_id", Value: int64(coll.Len())}, {Key: "p", Value: int32(key)},
			{Key: "pad", Value: strings.Repeat("x", 1000)}})
		must.Do(w.t, must.Err(coll.Insert(d)))
	}
}

// chunksPerShard counts the chunks of each shard.
func (w *world) chunksPerShard() [3]int {
	w.c.Mu.RLock()
	defer w.c.Mu.RUnlock()
	r := w.c.Routing("db.t")
	return [3]int{r.Count("shard-rs-1"), r.Count("shard-rs-2"), r.Count("shard-rs-3")}
}

func (w *world) logEntries(coll, what string) (entries []bson.Raw) {
	w.c.Mu.RLock()
	defer w.c.Mu.RUnlock()
	at := w.c.Config.Coll("config", coll)
	if at == nil {
		return nil
	}
	for _, d := range at.All() {
		if d.Lookup("what").StringValue() == what {
			entries = append(entries, d)
		}
	}
	return entries
}

func (w *world) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) writeSetting(doc string) {
	var raw bson.Raw
	must.Do(w.t, bson.UnmarshalExtJSON([]byte(doc), false, &raw))
	w.c.Mu.Lock()
	defer w.c.Mu.Unlock()
	must.Do(w.t, must.Err(w.c.Config.Create("config", "settings", w.c.UUID(), nil).Insert(raw)))
	w.c.ConfigWritten("settings")
}
