// Package catalog holds the metadata of a simulated sharded cluster: primary shards of
// databases, shard keys, chunks and their owners, zones, settings. It keeps the
// metadata in two forms that always agree: as documents of the config database, which
// clients can read, and as sorted routing tables, in which the owner of a document is
// found by binary search.
//
// It implements the sharding commands (split, moveChunk, zones, …) with the replies,
// error texts and changelog entries recorded from MongoDB 5.0.7. Rules that the replies
// do not show follow the server's source; comments name the file.
//
// One lock guards everything: [Cluster.Mu]. Command handlers lock it themselves;
// methods whose comment says "the caller holds Mu" do not. A migration releases it
// between its steps, so that reads and writes continue while it copies.
package catalog

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// Options describe the cluster to simulate. The zero value is a 5.0.7 cluster of three
// shards that starts at the current time.
type Options struct {
	Version     Release       // server version; zero means 5.0.7
	Shards      []string      // shard names in order; empty means shard-rs-1 … shard-rs-3
	Hostname    string        // machine name in change log entries; default "sim"
	Start       time.Time     // the cluster's time at the start; zero means time.Now
	ClusterID   bson.ObjectID // config.version.clusterId; zero means made from Seed
	Seed        uint64        // source of uuids and the random part of object ids
	Still       bool          // migrations take no time
	Pace        float64       // multiplies the time a migration takes; 0 means 1
	OrphanDelay time.Duration // orphanCleanupDelaySecs; 0 means 900 s
	// Held reports whether an open cursor keeps a shard from deleting a range that left then; nil: none does.
	Held func(ns, shard string, left, now time.Time) bool
	// Reshard is the minimum duration of a resharding
	// (reshardingMinimumOperationDurationMillis); 0 means 300 s.
	Reshard time.Duration
	// ConfigShard makes the config server a shard too, named config (8.0).
	ConfigShard bool
	// ShardUUIDs lets documents name shards by uuid, as development versions after
	// 8.0 do.
	ShardUUIDs bool
	// Hook, if set, is called at the steps of commands and migrations. Armed reports
	// whether the hook may have an effect at all; nil means that it may.
	Hook  Hook
	Armed func() bool
	// Sessions creates config.system.sessions a minute after the start.
	Sessions bool
	// Migration is the minimum duration of a migration, most of it for cloning; 0 means
	// that only the amount of data counts.
	Migration time.Duration
}

// Cluster is the metadata of one simulated cluster together with the nodes that
// hold its documents. Mu guards all of it, the nodes' contents included.
type Cluster struct {
	Mu     sync.RWMutex
	Config *engine.Node            // database "config": the documents of config.*
	Shards map[string]*engine.Node // by shard name

	opts    Options
	release release
	clock   clock
	rng     *rand.Rand
	ids     map[string]*value.IDs // by server: "config", "router" or a shard's name
	config  configStore
	shards  []*shard
	dbs     map[string]*database
	// primaries are the running movePrimary operations by database.
	primaries  map[string]*primaryMove
	tables     map[string]*Routing        // by namespace: of the documents of config.collections
	analyzers  map[string]*queryAnalyzer  // by namespace
	stepDowns  map[string]int             // how often the primary of a shard stepped down
	placements map[string][]string        // by namespace: shards of the first chunks, in order
	tombs      map[string]engine.RecordID // 4.4: documents of dropped collections
	zones      map[string][]*Zone         // by namespace, sorted by min
	set        Settings
	moves      registry
	orphans    []*orphanRange
	rounds     balancerRounds
	reshard    *resharding // nil when none runs
	still      atomic.Bool // migrations take no time
	instant    atomic.Bool // resharding and other operations take no time either
	skips      atomic.Bool // durations of migrations pass on the clock alone

	life context.Context // ends with Close; parent of running migrations
	end  context.CancelFunc
	work sync.WaitGroup
}

// New makes a cluster with registered shards and without user databases.
func New(o Options) *Cluster {
	o = o.withDefaults()
	c := &Cluster{
		Config:    engine.NewNode("config"),
		Shards:    make(map[string]*engine.Node, len(o.Shards)),
		opts:      o,
		release:   release{Release: o.Version},
		rng:       rand.New(rand.NewPCG(o.Seed, 0x5ead)),
		ids:       make(map[string]*value.IDs),
		dbs:       make(map[string]*database),
		primaries: make(map[string]*primaryMove),
		tables:    make(map[string]*Routing),
		tombs:     make(map[string]engine.RecordID),
		zones:     make(map[string][]*Zone),

		analyzers: make(map[string]*queryAnalyzer), stepDowns: make(map[string]int), placements: make(map[string][]string),
	}
	c.moves.ranges = c.since(8)
	if o.ShardUUIDs {
		c.release.refs = make(map[string][16]byte)
	}
	c.still.Store(o.Still)
	c.clock.epoch, c.clock.begun = o.Start, time.Now()
	c.life, c.end = context.WithCancel(context.Background())
	c.config = newConfigStore(c.Config, c.UUID, c.release)
	c.writeVersion()
	for i, name := range o.Shards {
		c.Shards[name] = engine.NewNode(name)
		c.registerShard(name, fmt.Sprintf("127.0.0.1:%d", configPort+1+i))
	}
	if o.ConfigShard {
		c.addConfigShard()
	}
	c.PingRouter()
	c.set = c.readSettings()
	return c
}

// Close aborts running migrations, as a shard does that shuts down, and waits for them.
func (c *Cluster) Close() {
	// Cancel under the lock, so that no migration starts after Wait was called.
	c.Mu.Lock()
	c.end()
	c.Mu.Unlock()
	c.work.Wait()
}

func (o Options) withDefaults() Options {
	if o.Version == (Release{}) {
		o.Version = Release{5, 0, 7}
	}
	if len(o.Shards) == 0 {
		o.Shards = []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}
	}
	if o.Hostname == "" {
		o.Hostname = "sim"
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

// configHost is the address of the config server's only member; those of shards have the next ports.
const (
	configPort = 27100
	configHost = "127.0.0.1:27100"
)

// pingEvery is how often mongos writes its row to config.mongos
// (s/sharding_uptime_reporter.cpp).
const pingEvery = 10 * time.Second

// Run does the servers' periodic work except balancing: it deletes due orphans, creates
// the sessions collection, and updates the router's ping in config.mongos. It returns
// when ctx ends.
func (c *Cluster) Run(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.Mu.Lock()
			c.PingRouter()
			c.CleanOrphans()
			c.setUpSessions()
			c.Mu.Unlock()
		}
	}
}

// config.system.sessions, the collection of logical sessions.
const (
	sessionsNS = "config.system.sessions"
	// sessionsAfter is how long after the start it is created.
	sessionsAfter = time.Minute
	// sessionChunks is the number of chunks into which the balancer splits it
	// (minNumChunksForSessionsCollection).
	sessionChunks = 1024
)

// setUpSessions creates the sessions collection when it is due and Options.Sessions is
// set: sharded by _id, one chunk on the first shard (assumed). The caller holds Mu.
func (c *Cluster) setUpSessions() {
	due := c.clock.epoch.Add(time.Duration(float64(sessionsAfter) * c.opts.Pace))
	if !c.opts.Sessions || c.Routing(sessionsNS) != nil || len(c.shards) == 0 || c.Now().Before(due) {
		return
	}
	key, home := idPattern(), c.shards[0].name
	coll, err := c.EnsureCollection(home, sessionsNS, c.UUID(), nil)
	if err != nil {
		return
	}
	_, _ = coll.EnsureIndex(encode(value.D("key", value.D("lastUse", int32(1)), "name", "lsidTTLIndex",
		"expireAfterSeconds", int32(1800))))
	at := c.Timestamp()
	r := c.newRouting(sessionsNS, key, coll.UUID, false, c.objectID(configServer), at)
	r.setChunks([]*Chunk{c.placeChunk(r, key.min(), key.max(), home, bson.Timestamp{T: 1}, at)})
	c.notePlacement(r)
}

// SplitSessions splits the sessions collection at evenly spaced uuids, as the balancer
// does at the beginning of a round on versions that count chunks. Recorded: 1,024
// chunks and 1,023 multi-split log entries (assumed: because the first split has only
// one point). The caller holds Mu for writing.
func (c *Cluster) SplitSessions() error {
	r := c.Routing(sessionsNS)
	if r == nil || c.MovesRanges() || len(r.chunks) != 1 || c.moves.donating(sessionsNS, "") != nil {
		return nil
	}
	points := make([]bson.Raw, 0, sessionChunks-1)
	for i := uint32(1); i < sessionChunks; i++ {
		var id [16]byte
		binary.BigEndian.PutUint32(id[:], i*(1<<32/sessionChunks))
		points = append(points, encode(value.D("_id", value.D("id", uuidValue(id)))))
	}
	if err := c.split(r, r.chunks[0], points[:1]); err != nil {
		return err
	}
	return c.split(r, r.chunks[1], points[1:])
}
