package simcluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// maxConnections is what connections.available counts down from.
const maxConnections = 16_000

// serverStatus has the sections of a mongos that are simulated. A section given as
// false in the command is left out.
func (c *Cluster) serverStatus(_ context.Context, r *engine.Request) (bson.D, error) {
	up := time.Since(c.started)
	reply := bson.D{
		{Key: "host", Value: fmt.Sprintf("%s:%d", hostname, routerPort)},
		{Key: "version", Value: c.version.release},
		{Key: "process", Value: "mongos"},
		{Key: "pid", Value: int64(1)},
		{Key: "uptime", Value: up.Truncate(time.Second).Seconds()},
		{Key: "uptimeMillis", Value: up.Milliseconds()},
		{Key: "uptimeEstimate", Value: int64(up.Seconds())},
		{Key: "localTime", Value: bson.NewDateTimeFromTime(c.catalog.Now())},
	}
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
		{Key: "health", Value: bson.D{{Key: "state", Value: "Ok"}, {Key: "enteredStateAtTime", Value: bson.NewDateTimeFromTime(c.opts.Epoch)}}},
		{Key: "metrics", Value: bson.D{{Key: "cursor",
			Value: bson.D{{Key: "open", Value: bson.D{{Key: "total", Value: int64(c.cursors.len())}}}}}}},
		{Key: "network", Value: bson.D{{Key: "numRequests", Value: s.requests.Load()}}},
		{Key: "opcounters", Value: bson.D{
			{Key: "insert", Value: s.inserts.Load()}, {Key: "query", Value: s.queries.Load()}, {Key: "update", Value: s.updates.Load()},
			{Key: "delete", Value: s.deletes.Load()}, {Key: "getmore", Value: s.gets.Load()}, {Key: "command", Value: s.any.Load()},
		}},
		{Key: "sharding", Value: bson.D{
			{Key: "configsvrConnectionString", Value: c.catalog.Host(configShard)},
			{Key: "lastSeenConfigServerOpTime", Value: bson.D{{Key: "ts", Value: c.catalog.LastTimestamp()}, {Key: "t", Value: int64(-1)}}},
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
func (c *Cluster) connPoolStats(context.Context, *engine.Request) (bson.D, error) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	sets := c.withConfig(c.catalog.ShardNames())
	hosts, replicaSets := bson.D{}, bson.D{}
	frozen := c.faults.Frozen()
	idle := bson.D{
		{Key: "inUse", Value: int32(0)}, {Key: "available", Value: int32(1)},
		{Key: "created", Value: int32(1)}, {Key: "refreshing", Value: int32(0)},
	}
	for _, shard := range sets {
		set, address, _ := cutHost(c.catalog.Host(shard))
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
	if c.version.atLeast(8, 0, 0) {
		_, address, _ := cutHost(c.catalog.Host(configShard))
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
