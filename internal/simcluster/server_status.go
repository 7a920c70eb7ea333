package simcluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// maxConnections is what connections.available counts down from.
const maxConnections = 16_000

// serverStatus has the sections of a mongos that are simulated. A section given as
// false in the command is left out.
func (srv *server) serverStatus(_ context.Context, r *engine.Request) (bson.D, error) {
	up := time.Since(srv.started)
	reply := bson.D{
		{Key: "host", Value: fmt.Sprintf("%s:%d", hostname, routerPort)},
		{Key: "version", Value: srv.version.release},
		{Key: "process", Value: "mongos"},
		{Key: "pid", Value: int64(1)},
		{Key: "uptime", Value: up.Truncate(time.Second).Seconds()},
		{Key: "uptimeMillis", Value: up.Milliseconds()},
		{Key: "uptimeEstimate", Value: int64(up.Seconds())},
		{Key: "localTime", Value: bson.NewDateTimeFromTime(srv.catalog.Now())},
	}
	for _, section := range srv.statusSections() {
		if v := r.Lookup(section.Key); v.Type == 0 || truthy(v) {
			reply = append(reply, section)
		}
	}
	return reply, nil
}

func (srv *server) statusSections() bson.D {
	s := srv.stats
	current := s.connections.Load()
	srv.catalog.Mu.RLock()
	chunkSize := srv.catalog.ChunkSize()
	databases, collections := len(srv.catalog.Databases()), len(srv.catalog.Namespaces())
	srv.catalog.Mu.RUnlock()
	targeted := bson.D{}
	for _, op := range []string{"find", "insert", "update", "delete", "aggregate"} {
		targeted = append(targeted, bson.E{Key: op, Value: bson.D{
			{Key: "allShards", Value: int32(0)}, {Key: "manyShards", Value: int32(0)},
			{Key: "oneShard", Value: int32(0)}, {Key: "unsharded", Value: int32(0)},
		}})
	}
	return bson.D{
		{Key: "asserts", Value: bson.D{
			{Key: "regular", Value: int32(0)}, {Key: "warning", Value: int32(0)}, {Key: "msg", Value: int32(0)},
			{Key: "user", Value: number(s.asserts.Load())}, {Key: "tripwire", Value: int32(0)}, {Key: "rollovers", Value: int32(0)},
		}},
		{Key: "connections", Value: bson.D{
			{Key: "current", Value: current}, {Key: "available", Value: maxConnections - current},
			{Key: "totalCreated", Value: s.created.Load()}, {Key: "active", Value: int32(1)}, {Key: "threaded", Value: current},
			{Key: "exhaustIsMaster", Value: int32(0)}, {Key: "exhaustHello", Value: int32(0)}, {Key: "awaitingTopologyChanges", Value: int32(0)},
		}},
		{Key: "health", Value: bson.D{{Key: "state", Value: "Ok"}, {Key: "enteredStateAtTime", Value: bson.NewDateTimeFromTime(srv.epoch)}}},
		{Key: "metrics", Value: bson.D{{Key: "cursor",
			Value: bson.D{{Key: "open", Value: bson.D{{Key: "total", Value: int64(srv.cursors.len())}}}}}}},
		{Key: "network", Value: bson.D{{Key: "numRequests", Value: s.requests.Load()}}},
		{Key: "opcounters", Value: bson.D{
			{Key: "insert", Value: s.inserts.Load()}, {Key: "query", Value: s.queries.Load()}, {Key: "update", Value: s.updates.Load()},
			{Key: "delete", Value: s.deletes.Load()}, {Key: "getmore", Value: s.gets.Load()}, {Key: "command", Value: s.any.Load()},
		}},
		{Key: "sharding", Value: bson.D{
			{Key: "configsvrConnectionString", Value: srv.catalog.Host(configShard)},
			{Key: "lastSeenConfigServerOpTime", Value: bson.D{{Key: "ts", Value: srv.catalog.LastTimestamp()}, {Key: "t", Value: int64(-1)}}},
			{Key: "maxChunkSizeInBytes", Value: chunkSize},
		}},
		{Key: "shardingStatistics", Value: bson.D{
			{Key: "numHostsTargeted", Value: targeted},
			{Key: "catalogCache", Value: bson.D{
				{Key: "numDatabaseEntries", Value: int64(databases)},
				{Key: "numCollectionEntries", Value: int64(collections)},
			}},
		}},
	}
}

// connPoolStats shows the pools of mongos and the replica sets that it monitors; all
// members are healthy.
func (srv *server) connPoolStats(context.Context, *engine.Request) (bson.D, error) {
	srv.catalog.Mu.RLock()
	defer srv.catalog.Mu.RUnlock()
	sets := withConfig(srv.catalog.ShardNames())
	hosts, replicaSets := bson.D{}, bson.D{}
	frozen := srv.faults.Frozen()
	idle := bson.D{
		{Key: "inUse", Value: int32(0)}, {Key: "available", Value: int32(1)},
		{Key: "created", Value: int32(1)}, {Key: "refreshing", Value: int32(0)},
	}
	for _, shard := range sets {
		set, address, _ := cutHost(srv.catalog.Host(shard))
		hosts = append(hosts, bson.E{Key: address, Value: idle})
		replicaSets = append(replicaSets, bson.E{Key: set, Value: bson.D{{Key: "hosts", Value: bson.A{bson.D{
			{Key: "addr", Value: address}, {Key: "ok", Value: !slices.Contains(frozen, shard)},
			{Key: "ismaster", Value: !slices.Contains(frozen, shard)},
			{Key: "hidden", Value: false}, {Key: "secondary", Value: false}, {Key: "pingTimeMillis", Value: 0.5},
		}}}}})
	}
	n := int32(len(sets))
	pool := func(hosts bson.D) bson.D {
		n := int32(len(hosts))
		return append(bson.D{
			{Key: "poolInUse", Value: int32(0)}, {Key: "poolAvailable", Value: n},
			{Key: "poolCreated", Value: n}, {Key: "poolRefreshing", Value: int32(0)},
		}, hosts...)
	}
	pools := bson.D{{Key: "NetworkInterfaceTL-ShardRegistry", Value: pool(hosts)}}
	if srv.version.atLeast(8, 0, 0) {
		_, address, _ := cutHost(srv.catalog.Host(configShard))
		pools = append(pools, bson.E{Key: "NetworkInterfaceTL-TaskExecutorPool-0", Value: pool(bson.D{{Key: address, Value: idle}})})
	}
	return bson.D{
		{Key: "numClientConnections", Value: int32(0)},
		{Key: "numAScopedConnections", Value: int32(0)},
		{Key: "totalInUse", Value: int32(0)},
		{Key: "totalAvailable", Value: n},
		{Key: "totalCreated", Value: n},
		{Key: "totalRefreshing", Value: int32(0)},
		{Key: "replicaSetMatchingStrategy", Value: "matchPrimaryNode"},
		{Key: "pools", Value: pools},
		{Key: "hosts", Value: hosts},
		{Key: "numReplicaSetMonitorsCreated", Value: n},
		{Key: "replicaSets", Value: replicaSets},
	}, nil
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

func (s *counters) disconnected()    { s.connections.Add(-1) }
func (s *counters) nextReply() int32 { return s.replies.Add(1) }
func (s *counters) asserted()        { s.asserts.Add(1) }
func (s *counters) inserted(n int)   { s.inserts.Add(int64(n)) }
func (s *counters) updated(n int)    { s.updates.Add(int64(n)) }
func (s *counters) deleted(n int)    { s.deletes.Add(int64(n)) }

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
