package simcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/value"
)

// maxConnections is what connections.available counts down from.
const maxConnections = 16_000

// serverStatus has the sections of a mongos that are simulated. A section given as
// false in the command is left out.
func (c *Cluster) serverStatus(_ context.Context, r *engine.Request) (bson.D, error) {
	up := time.Since(c.started)
	reply := value.D("host", fmt.Sprintf("%s:%d", hostname, routerPort), "version", c.version.release,
		"process", "mongos", "pid", int64(1), "uptime", up.Truncate(time.Second).Seconds(),
		"uptimeMillis", up.Milliseconds(), "uptimeEstimate", int64(up.Seconds()),
		"localTime", bson.NewDateTimeFromTime(c.catalog.Now()))
	for _, section := range c.statusSections() {
		if v := r.Lookup(section.Key); v.Type == 0 || truthy(v) {
			reply = append(reply, section)
		}
	}
	return reply, nil
}

func (c *Cluster) statusSections() bson.D {
	s := &c.stats
	current := s.connections.Load()
	c.catalog.Mu.RLock()
	chunkSize := c.catalog.ChunkSize()
	databases, collections := len(c.catalog.Databases()), len(c.catalog.Namespaces())
	c.catalog.Mu.RUnlock()
	targeted := bson.D{}
	for _, op := range []string{"find", "insert", "update", "delete", "aggregate"} {
		targeted = append(targeted, bson.E{Key: op, Value: value.D("allShards", int32(0), "manyShards", int32(0),
			"oneShard", int32(0), "unsharded", int32(0))})
	}
	return value.D("asserts", value.D("regular", int32(0), "warning", int32(0), "msg", int32(0),
		"user", number(s.asserts.Load()), "tripwire", int32(0), "rollovers", int32(0)),
		"connections", value.D("current", current, "available", maxConnections-current,
			"totalCreated", s.created.Load(), "active", int32(1), "threaded", current, "exhaustIsMaster", int32(0),
			"exhaustHello", int32(0), "awaitingTopologyChanges", int32(0)),
		"health", value.D("state", "Ok", "enteredStateAtTime", bson.NewDateTimeFromTime(c.opts.Epoch)),
		"metrics", value.D("cursor", value.D("open", value.D("total", int64(c.cursors.len())))),
		"network", value.D("numRequests", s.requests.Load()),
		"opcounters", value.D("insert", s.inserts.Load(), "query", s.queries.Load(),
			"update", s.updates.Load(), "delete", s.deletes.Load(), "getmore", s.gets.Load(), "command", s.any.Load()),
		"sharding", value.D("configsvrConnectionString", c.catalog.Host(configShard),
			"lastSeenConfigServerOpTime", value.D("ts", c.catalog.LastTimestamp(), "t", int64(-1)),
			"maxChunkSizeInBytes", chunkSize),
		"shardingStatistics", value.D("numHostsTargeted", targeted,
			"catalogCache", value.D("numDatabaseEntries", int64(databases),
				"numCollectionEntries", int64(collections))))
}

// connPoolStats shows the pools of mongos and the replica sets that it monitors; all
// members are healthy.
func (c *Cluster) connPoolStats(context.Context, *engine.Request) (bson.D, error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	sets := c.catalog.ShardNames()
	if !slices.Contains(sets, configShard) { // it may be a shard itself (8.0)
		sets = slices.Insert(sets, 0, configShard)
	}
	hosts, replicaSets := bson.D{}, bson.D{}
	frozen := c.faults.Frozen()
	idle := value.D("inUse", int32(0), "available", int32(1), "created", int32(1), "refreshing", int32(0))
	for _, shard := range sets {
		set, address, _ := strings.Cut(c.catalog.Host(shard), "/")
		hosts = append(hosts, bson.E{Key: address, Value: idle})
		replicaSets = append(replicaSets, bson.E{Key: set, Value: value.D("hosts", bson.A{
			value.D("addr", address,
				"ok", !slices.Contains(frozen, shard), "ismaster", !slices.Contains(frozen, shard),
				"hidden", false, "secondary", false, "pingTimeMillis", 0.5),
		})})
	}
	n := int32(len(sets))
	pool := func(hosts bson.D) bson.D {
		n := int32(len(hosts))
		return append(value.D("poolInUse", int32(0), "poolAvailable", n, "poolCreated", n, "poolRefreshing", int32(0)), hosts...)
	}
	pools := value.D("NetworkInterfaceTL-ShardRegistry", pool(hosts))
	if c.version.atLeast(8, 0, 0) {
		_, address, _ := strings.Cut(c.catalog.Host(configShard), "/")
		pools = append(pools, bson.E{Key: "NetworkInterfaceTL-TaskExecutorPool-0", Value: pool(value.D(address, idle))})
	}
	return value.D("numClientConnections", int32(0), "numAScopedConnections", int32(0), "totalInUse", int32(0),
		"totalAvailable", n, "totalCreated", n, "totalRefreshing", int32(0),
		"replicaSetMatchingStrategy", "matchPrimaryNode", "pools", pools, "hosts", hosts,
		"numReplicaSetMonitorsCreated", n, "replicaSets", replicaSets), nil
}

// counters holds the counts shown by serverStatus and $collStats. Safe for concurrent
// use.
type counters struct {
	requests, asserts                             atomic.Int64
	inserts, queries, updates, deletes, gets, any atomic.Int64
	connections, created                          atomic.Int32
	replies                                       atomic.Int32

	mu      sync.Mutex
	latency map[latencyKey]*latencies
}

// latencyKey is a collection on one shard.
type latencyKey struct{ shard, ns string }

// latencies sum up how long operations took, in microseconds.
type latencies struct {
	readMicros, reads, writeMicros, writes int64
}

func (s *counters) connected() int32 {
	s.connections.Add(1)
	return s.created.Add(1)
}

// count adds a command to the opcounters of serverStatus.
func (s *counters) count(name string) {
	s.requests.Add(1)
	switch name {
	case "find", "aggregate":
		s.queries.Add(1)
	case "getMore":
		s.gets.Add(1)
	case "insert", "update", "delete":
	default:
		s.any.Add(1)
	}
}

// took adds an operation to a collection's latencies.
func (s *counters) took(shard, ns string, write bool, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latency == nil {
		s.latency = make(map[latencyKey]*latencies)
	}
	l := s.latency[latencyKey{shard, ns}]
	if l == nil {
		l = &latencies{}
		s.latency[latencyKey{shard, ns}] = l
	}
	if write {
		l.writes++
		l.writeMicros += d.Microseconds()
	} else {
		l.reads++
		l.readMicros += d.Microseconds()
	}
}

// timed adds an operation that began at begin to the latencies of every shard that
// took part; call it deferred.
func (c *Cluster) timed(t target, write bool, begin time.Time) {
	took := time.Since(begin)
	for _, s := range t.sources {
		c.stats.took(s.shard, t.ns, write, took)
	}
}

func (s *counters) latencyOf(shard, ns string) latencies {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.latency[latencyKey{shard, ns}]; l != nil {
		return *l
	}
	return latencies{}
}
