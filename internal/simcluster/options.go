package simcluster

import (
	"cmp"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/access"
	"shardboard/internal/simcluster/catalog"
)

// Options describe the cluster to simulate. The zero value is a 5.0 cluster of three
// shards filled with the newest Yorkie layout.
type Options struct {
	Shards        int    // number of shards, named shard-rs-1 …; default 3
	ServerVersion string // "4.4", "5.0", "6.0", "7.0", "8.0", "8.3", "9.0" or a full version of one of those; default "5.0"
	Seed          int64  // the same seed and epoch give the same data; default 7
	Layout        string // workload layout; default "yorkie-head"
	Database      string // the workload's database; default "yorkie-meta"
	Projects      int    // default 60
	Documents     int    // Yorkie documents in all; default 20000, negative: none
	// Epoch is the cluster's time when it is made; default the wall clock's.
	Epoch time.Time
	Still bool // the balancer is off and there are no background writes
	Empty bool // no user database
	// Pace multiplies durations such as those of migrations and balancer rounds: 1, the
	// default, is real time, 0.1 is ten times as fast.
	Pace float64
	// ConfigShard makes the config server a shard too, named config (8.0).
	ConfigShard bool
	// ShardUUIDs lets config documents name shards by uuid, as development versions
	// after 8.0 do.
	ShardUUIDs bool
	// Reshard is the minimum duration of a resharding
	// (reshardingMinimumOperationDurationMillis); default 5 minutes.
	Reshard time.Duration
	// OrphanDelay is how long a donor keeps the documents of a moved chunk
	// (orphanCleanupDelaySecs); default 15 minutes. A move with waitForDelete skips the
	// delay. Pace does not change it.
	OrphanDelay time.Duration
	// Sessions creates config.system.sessions a minute after the start, as in every real
	// cluster: the balancer's next round splits it into 1,024 chunks and then spreads one
	// chunk a round, which takes about a quarter of an hour (before 6.0.3). Other moves
	// can conflict with these.
	Sessions bool
	// Migration is the minimum duration of a migration's cloning, regardless of Pace and
	// of the amount of data; default 0.
	Migration time.Duration
	// Disk returns the used and total bytes of a shard's disk. It is called by each
	// dbStats for each shard with data of the database and must not call the cluster;
	// default a nearly empty disk.
	Disk func(shard string) (used, total int64)
	// FaultCommand lets every client inject faults with the command simulateFault.
	FaultCommand bool
	Log          *slog.Logger // default: discards
	// Busy lets some documents of one project get many edits from Start on,
	// for some minutes, and again later.
	Busy bool
	// TransactionLifetime is how long a transaction may stay open
	// (transactionLifetimeLimitSeconds); default 60 s.
	TransactionLifetime time.Duration
	// TLS, if not nil, is what every connection needs; see [TLSConfig].
	TLS *tls.Config
	// ManyChunks adds ManyNS, a collection with so many chunks that never change, which take
	// no memory: their documents are made when they are read (5.0 and later).
	ManyChunks int
	// Users, if not empty, turn access control on: these users exist from the start, and
	// commands over connections need their privileges.
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
	if o.TransactionLifetime == 0 {
		o.TransactionLifetime = time.Minute
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
	case o.TransactionLifetime < 0:
		return fmt.Errorf("simulate transactions that live for %s: that can't be negative", o.TransactionLifetime)
	case o.ManyChunks < 0 || o.ManyChunks > MostManyChunks || o.ManyChunks > 0 && strings.HasPrefix(o.ServerVersion, "4."):
		return fmt.Errorf("simulate a collection of %d chunks: at most %d are possible, from 5.0 on", o.ManyChunks, MostManyChunks)
	case o.Pace < 0:
		return fmt.Errorf("simulate at pace %v: it can't be negative", o.Pace)
	}
	return nil
}

// clusterID depends only on the seed, so that a restarted simulation has the same
// cluster id.
func clusterID(seed int64) bson.ObjectID {
	var id bson.ObjectID
	binary.BigEndian.PutUint32(id[:4], 1_767_225_600) // 2026-01-01: a plausible creation time inside the id
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

// version is the simulated server version.
type version struct {
	parts   catalog.Release
	wire    int32  // maxWireVersion
	git     string // gitVersion of buildInfo
	release string // as in "5.0.7"
}

// releases are the versions that can be simulated; a name without a patch number
// means this one. Wire versions are those of db/wire_version.h. Without a recording there is no gitVersion.
var releases = [...]version{
	{parts: catalog.Release{4, 4, 29}, wire: 9},
	{parts: catalog.Release{5, 0, 7}, wire: 13, git: "b977129dc70eed766cbee7e412d901ee213acbda"},
	{parts: catalog.Release{6, 0, 20}, wire: 17},
	{parts: catalog.Release{7, 0, 16}, wire: 21},
	{parts: catalog.Release{8, 0, 10}, wire: 25, git: "9d03076bb2d5147d5b6fe381c7118b0b0478b682"},
	{parts: catalog.Release{8, 3, 0}, wire: 28},
	{parts: catalog.Release{9, 0, 0}, wire: 29},
}

// parseVersion reads "5.0" or "5.0.7".
func parseVersion(s string) (version, error) {
	for _, v := range releases {
		series := fmt.Sprintf("%d.%d", v.parts[0], v.parts[1])
		patch, given := strings.CutPrefix(s, series+".")
		if n, err := strconv.Atoi(patch); given && err == nil && n >= 0 && n < 1000 {
			if n != v.parts[2] {
				v.parts[2], v.git = n, ""
			}
		} else if s != series {
			continue
		}
		v.git = cmp.Or(v.git, strings.Repeat("0", 40))
		v.release = fmt.Sprintf("%s.%d", series, v.parts[2])
		return v, nil
	}
	return version{}, fmt.Errorf("server version %q: possible are 4.4, 5.0, 6.0, 7.0, 8.0, 8.3 and 9.0", s)
}

// atLeast reports whether the version is major.minor.patch or newer.
func (v version) atLeast(major, minor, patch int) bool {
	return v.parts.AtLeast(major, minor, patch)
}
