package cluster_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// A shard without data of the database does not report its disk.
func TestDatabaseOnAnotherShardDoesNotReportADisk(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		must.Do(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "d"}, {Key: "primaryShard", Value: "shard-rs-1"}}))
		must.Do(t, run(t, sim, "d", bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}}}))
		w := topology.NewWatcher(c, topology.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		shards, err := c.Shards(t.Context())
		must.Do(t, err)
		disks, err := c.Disks(t.Context(), "d", shards)
		must.Do(t, err)
		if !disks["shard-rs-1"].Known() || disks["shard-rs-2"].Known() || disks["shard-rs-2"].Used.Reason != "noDisk" {
			t.Errorf("%+v", disks)
		}
		// The watcher then uses another database.
		go func() { done <- w.Run(ctx) }()
		defer func() { cancel(); must.Do(t, <-done) }()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, s := range shards {
			if d := w.Table().DiskOf(s.Name); !d.Known() {
				t.Errorf("%s: %+v", s.Name, d)
			}
		}
	})
}

// When a shard hangs the read fails and the last figures stay, with their age.
func TestHangingShardKeepsTheLastDisks(t *testing.T) {
	var used atomic.Int64
	used.Store(50)
	o := simcluster.Options{Projects: 3, Documents: 20, Still: true,
		Disk: func(string) (int64, int64) { return used.Load(), 100 }}
	onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		w, stop := watch(t, c, topology.Options{})
		defer stop()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if d := w.Table().DiskOf("shard-rs-1"); d.Used.Value != 50 || w.Table().DiskOld("shard-rs-1", time.Now()) {
			t.Fatalf("%+v", d)
		}
		used.Store(60)
		sim.Faults().Freeze("shard-rs-3")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		table := w.Table()
		d, h := table.DiskOf("shard-rs-1"), table.Health[topology.PartDisks]
		if d.Used.Value != 50 || !table.DiskOld("shard-rs-1", time.Now()) || !table.Stale(topology.PartDisks, time.Now()) {
			t.Errorf("%+v %+v", d, h)
		}
		if fault.Of(h.Err) != fault.Unavailable || strings.Contains(fault.Text(h.Err), "dbStats") {
			t.Errorf("%v", h.Err)
		}
		sim.Faults().Thaw("shard-rs-3")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if d := w.Table().DiskOf("shard-rs-1"); d.Used.Value != 60 || w.Table().Health[topology.PartDisks].Err != nil {
			t.Errorf("not recovered: %+v", d)
		}
	})
}
