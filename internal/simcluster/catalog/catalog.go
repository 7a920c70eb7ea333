// Package catalog is the memory of a simulated sharded cluster: which database
// lives where, which collections are sharded by which key, how the key space is
// cut into chunks and which shard owns each of them. It keeps all of that twice,
// and never apart: as real documents of the config database, so that clients read
// config.* as they would on a real cluster, and as sorted routing tables, so that
// finding the owner of a document costs a binary search.
//
// It answers the sharding commands (split, moveChunk, zones, …) with the replies,
// error texts and change log entries of MongoDB 5.0.7 as observed; rules that the
// replies do not show follow the server's source (named by file where used).
//
// One lock guards everything: [Cluster.Mu]. Command handlers take it themselves;
// methods whose comment says "the caller holds Mu" do not. A migration releases it
// between its phases, as a real one lets reads and writes through while it copies.
package catalog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// Options say what cluster to pretend. The zero value is a 5.0.7 cluster of three
// shards whose time starts at the wall clock's now.
type Options struct {
	Version     [3]int        // server version; zero means 5.0.7
	Shards      []string      // shard names in order; empty means shard-rs-1 … shard-rs-3
	Hosts       []string      // "address:port" of each shard's only member; default 127.0.0.1:27101 …
	ConfigHost  string        // the config server's member; default 127.0.0.1:27100
	Router      string        // how mongos names itself in config.mongos; default "<Hostname>:27099"
	Hostname    string        // machine name in change log entries; default "sim"
	Start       time.Time     // what Now answers first; zero means time.Now
	ClusterID   bson.ObjectID // config.version.clusterId; zero means made from Seed
	Seed        uint64        // source of uuids and the random part of object ids
	Still       bool          // migrations take no time
	Pace        float64       // multiplies the time a migration takes; 0 means 1
	OrphanDelay time.Duration // orphanCleanupDelaySecs; 0 means 900 s
	// Reshard is the shortest time that a resharding takes
	// (reshardingMinimumOperationDurationMillis); 0 means 300 s.
	Reshard time.Duration
	// ConfigShard makes the config server a shard too, named config (8.0).
	ConfigShard bool
	// ShardUUIDs lets documents name shards by uuid, as development versions after
	// 8.0 do.
	ShardUUIDs bool
	// Hook is asked at the steps of commands and migrations; nil asks nobody. Armed says
	// whether it may do anything at all; nil means it may.
	Hook  Hook
	Armed func() bool
	// Sessions lets the cluster have config.system.sessions a minute after its start.
	Sessions bool
	// Migration is the least time that a migration takes, most of it to copy; 0 means as
	// long as its documents need.
	Migration time.Duration
}

// Cluster is the metadata of one simulated cluster together with the nodes that
// hold its documents. Mu guards all of it, the nodes' contents included.
type Cluster struct {
	Mu     sync.RWMutex
	Config *engine.Node            // database "config": the documents of config.*
	Shards map[string]*engine.Node // by shard name

	opts     Options
	features versionFeatures
	clock    clock
	rng      *rand.Rand
	ids      map[string]*idSource // by server: "config", "router" or a shard's name
	config   configStore
	shards   []*shard
	dbs      map[string]*database
	routes   map[string]*Routing
	tracked  map[string]*Routing        // unsharded collections that have a document (8.0)
	tombs    map[string]engine.RecordID // 4.4: documents of dropped collections
	zones    map[string][]*Zone         // by namespace, sorted by min
	set      Settings
	moves    registry
	orphans  []*orphanRange
	rounds   balancerRounds
	reshard  *resharding // nil when none runs
	still    atomic.Bool // migrations take no time
	instant  atomic.Bool // nor does anything else

	life context.Context // ends with Close; carries running migrations
	end  context.CancelFunc
	work sync.WaitGroup
}

// New makes an empty cluster: shards registered, no user database.
func New(o Options) *Cluster {
	o = o.withDefaults()
	c := &Cluster{
		Config:   engine.NewNode("config"),
		Shards:   make(map[string]*engine.Node, len(o.Shards)),
		opts:     o,
		features: featuresOf(o.Version),
		rng:      rand.New(rand.NewPCG(o.Seed, 0x5ead)),
		ids:      make(map[string]*idSource),
		dbs:      make(map[string]*database),
		routes:   make(map[string]*Routing),
		tracked:  make(map[string]*Routing),
		tombs:    make(map[string]engine.RecordID),
		zones:    make(map[string][]*Zone),
	}
	if o.ShardUUIDs {
		c.features.refs = &shardRefs{uuids: make(map[string][16]byte)}
	}
	c.still.Store(o.Still)
	c.clock = clock{epoch: o.Start, begun: time.Now()}
	c.life, c.end = context.WithCancel(context.Background())
	c.config = newConfigStore(c.Config, c.uuid, c.features)
	c.writeVersion()
	for i, name := range o.Shards {
		c.Shards[name] = engine.NewNode(name)
		c.registerShard(name, o.Hosts[i])
	}
	if o.ConfigShard {
		c.addConfigShard()
	}
	c.PingRouter()
	c.set = c.readSettings()
	return c
}

// Close ends running migrations (they abort, as on a shard that shuts down) and
// waits for them.
func (c *Cluster) Close() {
	// Under the lock, so that no migration begins while Wait looks.
	c.Mu.Lock()
	c.end()
	c.Mu.Unlock()
	c.work.Wait()
}

// Version is the server version that the cluster pretends.
func (c *Cluster) Version() [3]int { return c.opts.Version }

func (o Options) withDefaults() Options {
	if o.Version == [3]int{} {
		o.Version = [3]int{5, 0, 7}
	}
	if len(o.Shards) == 0 {
		o.Shards = []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}
	}
	for i := len(o.Hosts); i < len(o.Shards); i++ {
		o.Hosts = append(o.Hosts[:i:i], fmt.Sprintf("127.0.0.1:%d", 27101+i))
	}
	if o.ConfigHost == "" {
		o.ConfigHost = "127.0.0.1:27100"
	}
	if o.Hostname == "" {
		o.Hostname = "sim"
	}
	if o.Router == "" {
		o.Router = o.Hostname + ":27099"
	}
	if o.Start.IsZero() {
		o.Start = time.Now()
	}
	if o.Pace == 0 {
		o.Pace = 1
	}
	if o.OrphanDelay == 0 {
		o.OrphanDelay = 900 * time.Second
	}
	if o.Reshard == 0 {
		o.Reshard = 300 * time.Second
	}
	return o
}
