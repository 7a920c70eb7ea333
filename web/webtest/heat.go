package webtest

import (
	"cmp"
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// WritesToSeveral is SkewedWrites twenty times over, of which snapshots and revisions get a part.
func WritesToSeveral(v answer.View) *Writes {
	src := SkewedWrites(v)
	for i := range src.Rows {
		src.Rows[i].Rows *= 20
	}
	src.sparse = map[topology.Namespace]int64{"yorkie-meta.snapshots": 5, "yorkie-meta.revisions": 10}
	return src
}

// HeatListOf reads a list of the heat API: "chunks", "projects?ns=…".
func HeatListOf(t *testing.T, s *Server, what string) api.HeatList {
	t.Helper()
	return Decode[api.HeatList](t, s.Do("GET", "/api/v1/heat/"+what))
}

// Writes is a cluster that reports the rows as written to changes in each ten seconds. A collection named in
// sparse gets one row for so many of those; another gets none.
type Writes struct {
	Rows      []heat.Count
	sparse    map[topology.Namespace]int64
	Fail      error // from the start
	mu        sync.Mutex
	late      error    // since broke was called
	Shards    []string // that tell their counters: ten writes more at each read
	reads     map[topology.Namespace]int64
	ReadsEach int64 // reads of 5 ms that each shard's counters show at each read of them
}

// Broke fails all reads from now on.
func (w *Writes) Broke(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = err
}

func (w *Writes) Writes(_ context.Context, q heat.WriteQuery) (heat.Written, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := cmp.Or(w.Fail, w.late); err != nil {
		return heat.Written{}, err
	}
	if q.Date != "" { // in a minute; each row is changed as often as it gets changes
		rows := int64(0)
		for _, r := range w.Rows {
			if r.Project == q.Of.ObjectID() {
				rows += r.Rows
			}
		}
		return heat.Written{Counts: []heat.Count{{Project: q.Of.ObjectID(), Rows: rows}}}, nil
	}
	var out []heat.Count
	for _, r := range w.Rows {
		r.Rows = r.Rows * int64(q.To.Sub(q.From)/time.Second) / 10
		if q.NS != ChangesNS {
			r.Rows /= cmp.Or(w.sparse[q.NS], math.MaxInt64)
		}
		if r.Rows > 0 {
			out = append(out, r)
		}
	}
	return heat.Written{Counts: out[:min(len(out), q.Limit)]}, nil
}

func (w *Writes) Operations(_ context.Context, ns topology.Namespace) (map[string]heat.Operations, error) {
	if len(w.Shards) == 0 {
		return nil, fault.New(fault.Forbidden, "no")
	}
	if w.reads == nil {
		w.reads = map[topology.Namespace]int64{}
	}
	w.reads[ns]++
	out := map[string]heat.Operations{}
	for _, name := range w.Shards {
		reads := w.ReadsEach * w.reads[ns]
		out[name] = heat.Operations{Writes: 10 * w.reads[ns], WriteTime: time.Duration(w.reads[ns]) * time.Millisecond,
			Reads: reads, ReadTime: time.Duration(reads) * 5 * time.Millisecond}
	}
	return out, nil
}

// NewHeatServer is the site after a collector has counted src for a while. If then is not nil, it is
// called after that, and the collector runs for another 20 seconds.
func NewHeatServer(t *testing.T, v answer.View, src *Writes, during time.Duration, then func(*Writes)) *Server {
	t.Helper()
	watcher := &StubWatcher{}
	watcher.Value = v.Table
	var c *heat.Collector
	pictures := keyvis.New(watcher, nil, nil)
	var now time.Time
	synctest.Test(t, func(t *testing.T) {
		c = heat.NewCollector(src, watcher, profile.Yorkie(), heat.Options{Seed: 1})
		c.OnSlot(pictures.Take)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		time.Sleep(during)
		synctest.Wait()
		if then != nil {
			then(src)
			time.Sleep(20 * time.Second)
			synctest.Wait()
		}
		now = time.Now()
		cancel()
		<-done
	})
	s := New(t, func(d *site.Deps) {
		d.Measured.Heat, d.Measured.Pictures, d.Now = c, pictures, func() time.Time { return now }
	})
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	return s
}

// SkewedWrites go mostly to one document of one project.
func SkewedWrites(v answer.View) *Writes {
	all := v.Dir.All()
	src := &Writes{}
	for i := range 30 {
		src.Rows = append(src.Rows, heat.Count{Project: all[i%7].ID, Document: ProjectID(1000 + i), Rows: 1 + 300/int64(1+i*i)})
	}
	return src
}

// committed are the details of a migration's commit.
func committed(documents, bytes int64) bson.Raw {
	return MustBSON(bson.D{{Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: "shard-rs-2"},
		{
			Key: "counts",
			Value: bson.D{
				{Key: "cloned", Value: documents},
				{Key: "clonedBytes", Value: bytes},
				{Key: "catchup", Value: int64(0)},
				{Key: "steady", Value: int64(0)},
			},
		}})
}
