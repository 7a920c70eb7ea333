package simcluster

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/access"
)

// Options say what cluster to simulate. The zero value is a 5.0 cluster of three
// shards filled with the newest Yorkie layout.
type Options struct {
	Shards        int    // number of shards, named shard-rs-1 …; default 3
	ServerVersion string // "4.4", "5.0", "6.0", "7.0", "8.0" or a full version of one of those; default "5.0"
	Seed          int64  // the same seed and epoch give the same data; default 7
	Layout        string // workload layout; default "yorkie-head"
	Database      string // the workload's database; default "yorkie-meta"
	Projects      int    // default 60
	Documents     int    // Yorkie documents in all; default 20000, negative: none
	// Epoch is the cluster's time when it is made; default the wall clock's.
	Epoch time.Time
	Still bool // balancer off and nothing writes
	Empty bool // no user database
	// Pace stretches what takes time, such as migrations and balancer rounds:
	// 1, the default, is real time, 0.1 ten times as fast.
	Pace float64
	// ConfigShard makes the config server a shard too, named config (8.0).
	ConfigShard bool
	// ShardUUIDs lets config documents name shards by uuid, as development versions
	// after 8.0 do.
	ShardUUIDs bool
	// Reshard is the shortest time that a resharding takes
	// (reshardingMinimumOperationDurationMillis); default 5 minutes.
	Reshard time.Duration
	// OrphanDelay is how long a donor keeps the documents of a chunk that it gave away
	// (orphanCleanupDelaySecs); default 15 minutes. A move that asks for waitForDelete
	// does not wait for it. It is not stretched by Pace.
	OrphanDelay time.Duration
	// Sessions lets the cluster have config.system.sessions, as every real one: a minute
	// after its start it is there, the balancer's next round cuts it into 1,024 chunks, and
	// it is spread at one chunk a round, which takes about a quarter of an hour (before
	// 6.0.3). Everybody else's moves meet these.
	Sessions bool
	// Migration is the least time that a migration's copying takes, whatever Pace is and
	// however little there is to copy; default as long as it needs.
	Migration time.Duration
	// Disk says how many bytes of a shard's disk are used, and how many it has. It is
	// asked at each dbStats, for each shard that has something of the database, and
	// must not use the cluster; default a disk that never fills.
	Disk func(shard string) (used, total int64)
	// FaultCommand lets every client plant faults with the command simulateFault.
	FaultCommand bool
	Log          *slog.Logger // default: discards
	// Users turn access control on: they exist from the beginning, and everything over
	// a connection needs a user who may do it. None: everything is allowed.
	Users []access.User
}

func (o Options) withDefaults() Options {
	if o.Shards == 0 {
		o.Shards = 3
	}
	if o.ServerVersion == "" {
		o.ServerVersion = "5.0"
	}
	if o.Seed == 0 {
		o.Seed = 7
	}
	if o.Layout == "" {
		o.Layout = "yorkie-head"
	}
	if o.Database == "" {
		o.Database = "yorkie-meta"
	}
	if o.Projects == 0 {
		o.Projects = 60
	}
	switch {
	case o.Documents == 0:
		o.Documents = 20000
	case o.Documents < 0:
		o.Documents = 0
	}
	if o.Epoch.IsZero() {
		o.Epoch = time.Now()
	}
	if o.Pace == 0 {
		o.Pace = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Shards < 0 || o.Shards > 100:
		return fmt.Errorf("simulate %d shards: between 1 and 100 are possible", o.Shards)
	case o.Projects < 0:
		return fmt.Errorf("simulate %d projects: their number can't be negative", o.Projects)
	case (o.ConfigShard || o.ShardUUIDs) && !strings.HasPrefix(o.ServerVersion, "8."):
		return fmt.Errorf("simulate a config shard or shard uuids on %s: that needs 8.0", o.ServerVersion)
	case o.OrphanDelay < 0 || o.Migration < 0:
		return fmt.Errorf("simulate with an orphan delay of %s and migrations of %s: they can't be negative", o.OrphanDelay, o.Migration)
	case o.Pace < 0:
		return fmt.Errorf("simulate at pace %v: it can't be negative", o.Pace)
	}
	return nil
}

// clusterID depends on the seed alone: a simulated cluster that is started
// again is the same cluster to those who watch it.
func clusterID(seed int64) bson.ObjectID {
	var id bson.ObjectID
	binary.BigEndian.PutUint32(id[:4], 1_767_225_600) // 2026-01-01: an id that reads as one
	binary.BigEndian.PutUint64(id[4:], uint64(seed))
	return id
}

func (o Options) shardNames() []string {
	names := make([]string, o.Shards)
	for i := range names {
		names[i] = fmt.Sprintf("shard-rs-%d", i+1)
	}
	return names
}
