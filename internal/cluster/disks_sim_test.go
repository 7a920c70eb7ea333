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
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/topology"
)

func TestDisksOfAllShardsAreReadWithOneCommand(t *testing.T) {
	for _, version := range []string{"4.4", "5.0", "8.0"} {
		o := simcluster.Options{Projects: 3, Documents: 20, Still: true, ServerVersion: version,
			Disk: func(shard string) (used, total int64) {
				if shard == "shard-rs-2" {
					return 95, 100
				}
				return 40, 100
			}}
		onSim(t, o, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, sent *counter) {
			shards, err := c.Shards(t.Context())
			must(t, err)
			sent.take()
			disks, err := c.Disks(t.Context(), "yorkie-meta", shards)
			must(t, err)
			if got := sent.take(); len(got) != 1 || got[0] != "yorkie-meta.dbStats" {
				t.Errorf("%s: sent %v", version, got)
			}
			for _, s := range shards {
				want := int64(40)
				if s.Name == "shard-rs-2" {
					want = 95
				}
				if d := disks[s.Name]; !d.Known() || d.Used.Value != want || d.Total.Value != 100 {
					t.Errorf("%s: %s: %+v", version, s.Name, d)
				}
			}
			if c.LoadPerMinute() == 0 {
				t.Error("it is not counted as load")
			}
		})
	}
}

// A shard without data of the database does not report its disk.
func TestDatabaseOnAnotherShardDoesNotReportADisk(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		must(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "d"}, {Key: "primaryShard", Value: "shard-rs-1"}}))
		must(t, run(t, sim, "d", bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}}}))
		w := topology.NewWatcher(c, topology.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		shards, err := c.Shards(t.Context())
		must(t, err)
		disks, err := c.Disks(t.Context(), "d", shards)
		must(t, err)
		if !disks["shard-rs-1"].Known() || disks["shard-rs-2"].Known() || disks["shard-rs-2"].Used.Reason != "noDisk" {
			t.Errorf("%+v", disks)
		}
		// The watcher then uses another database.
		go func() { done <- w.Run(ctx) }()
		defer func() { cancel(); must(t, <-done) }()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, s := range shards {
			if d := w.Table().DiskOf(s.Name); !d.Known() {
				t.Errorf("%s: %+v", s.Name, d)
			}
		}
	})
}

func TestDeniedDiskNamesThePrivilegeAndAnotherDatabaseIsTried(t *testing.T) {
	users := []access.User{{Name: "root", Password: "pw"}, {Name: "manager", Password: "pw", Roles: []string{"clusterManager"}}}
	withAccessControl(t, "", users, func(t *testing.T, _ *simcluster.Cluster, connect connector) {
		c, err := connect("manager", "pw")
		must(t, err)
		_, err = c.Disks(t.Context(), "yorkie-meta", nil)
		if got := missingPrivilege(t, "Disks", err); got != "dbStats on yorkie-meta" {
			t.Errorf("lacks %q: %v", got, err)
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
		w := topology.NewWatcher(c, topology.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		defer func() { cancel(); must(t, <-done) }()
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
