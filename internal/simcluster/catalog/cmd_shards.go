package catalog

import (
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *Cluster) runListShards(context.Context, *engine.Request, string) (bson.D, error) {
	list := make(bson.A, len(c.shards))
	for i, s := range c.shards {
		list[i] = inListOrder(s.document(c.release))
	}
	return value.D("shards", list), nil
}

// inListOrder moves the fields of a shard that were written later to where listShards has them
// (s/catalog/type_shard.cpp).
func inListOrder(shard bson.D) bson.D {
	var late, rest bson.D
	for _, e := range shard[2:] {
		if e.Key == "draining" || e.Key == "tags" {
			late = append(late, e)
		} else {
			rest = append(rest, e)
		}
	}
	slices.SortFunc(late, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	return append(append(shard[:2:2], late...), rest...)
}

func (c *Cluster) runGetShardMap(context.Context, *engine.Request, string) (bson.D, error) {
	var byName, byHost, byString bson.D
	add := func(name, connection string) {
		_, hosts, _ := strings.Cut(connection, "/")
		byName = append(byName, bson.E{Key: name, Value: connection})
		byHost = append(byHost, bson.E{Key: hosts, Value: name})
		byString = append(byString, bson.E{Key: connection, Value: name})
	}
	for _, s := range c.shards {
		add(s.name, s.host)
	}
	if c.shard(configServer) == nil {
		add(configServer, c.Host(configServer))
	}
	return value.D("map", byName, "hosts", byHost, "connStrings", byString), nil
}

func (c *Cluster) runFlushRouterConfig(context.Context, *engine.Request, string) (bson.D, error) {
	return value.D("flushed", true), nil
}

func (c *Cluster) runGetShardVersion(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	ns, ok := req.Lookup(req.Name).StringValueOK()
	if !ok {
		return nil, status.Errorf(status.InvalidNamespace, "Invalid namespace specified ''")
	}
	if !strings.Contains(ns, ".") {
		d := c.dbs[ns]
		if d == nil {
			return nil, status.Errorf(status.NamespaceNotFound, "database %s not found", ns)
		}
		doc := c.databaseDocument(d)
		return value.D("primaryShard", d.primary, "shardingEnabled", d.partitioned || c.since(6),
			"version", doc[len(doc)-1].Value), nil
	}
	r := c.Routing(ns)
	if r == nil {
		return nil, c.notSharded(ns)
	}
	chunks := make(bson.A, len(r.chunks))
	for i, ch := range r.chunks {
		chunks[i] = bson.A{ch.Min, ch.Max}
	}
	return value.D("version", r.version, "versionEpoch", r.Epoch, value.When(c.since(5), "versionTimestamp", r.Timestamp),
		value.When(truthy(req.Lookup("fullMetadata")), "chunks", chunks)), nil
}

// runAddShard finds the shards that are there already; there are no other servers that could be added.
func (c *Cluster) runAddShard(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	host, ok := req.Lookup(req.Name).StringValueOK()
	set, _, isSet := strings.Cut(host, "/")
	if !ok || !isSet {
		return nil, status.Errorf(status.BadValue, "a shard is added by the name of its replica set and a host, as in set/host:port")
	}
	for _, s := range c.shards {
		if s.host == host {
			return value.D("shardAdded", s.name), nil
		}
	}
	return nil, status.Errorf(status.FailedToSatisfyReadPreference,
		"Could not find host matching read preference { mode: \"primary\" } for set %s", set)
}

// runRemoveShard is called repeatedly: the first call starts draining, further calls
// return what remains, the last one removes the shard
// (db/s/config/sharding_catalog_manager_shard_operations.cpp).
func (c *Cluster) runRemoveShard(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	name, ok := req.Lookup(req.Name).StringValueOK()
	if !ok {
		return nil, status.Errorf(status.BadValue, "The 'removeShard' field of the command must be a string")
	}
	s, err := c.shardByNameOrHost(name)
	if err != nil {
		return nil, err
	}
	return c.drainOrRemove(s)
}

// drainOrRemove begins to drain a shard, says how far it is, or removes it.
func (c *Cluster) drainOrRemove(s *shard) (bson.D, error) {
	if !s.draining {
		return c.startDraining(s)
	}
	if ongoing := c.ongoing(s); ongoing != nil {
		return ongoing, nil
	}
	c.dropShard(s)
	return value.D("msg", "removeshard completed successfully", "state", "completed", "shard", s.name), nil
}

// shardByNameOrHost finds the shard that a command names.
func (c *Cluster) shardByNameOrHost(name string) (*shard, error) {
	i := slices.IndexFunc(c.shards, func(s *shard) bool { return s.name == name || s.host == name })
	if i < 0 {
		return nil, noShard(name)
	}
	return c.shards[i], nil
}

// ongoing is the answer about a draining shard that is not empty; nil when it is.
func (c *Cluster) ongoing(s *shard) bson.D {
	chunks, jumbo, dbs := c.remainingOn(s.name)
	if chunks == 0 && dbs == 0 {
		return nil
	}
	remaining := value.D("chunks", chunks, "dbs", dbs, "jumboChunks", jumbo,
		value.When(c.release.AtLeast(8, 3, 0), "collectionsToMove", int64(len(c.collectionsToMove(s.name)))))
	return value.D("msg", "draining ongoing", "state", "ongoing", "remaining", remaining, c.toMove(s))
}

func (c *Cluster) startDraining(s *shard) (bson.D, error) {
	staying := 0
	for _, other := range c.shards {
		if other != s && !other.draining {
			staying++
		}
	}
	if staying == 0 {
		return nil, status.Errorf(status.IllegalOperation, "Operation not allowed because it would remove the last shard")
	}
	for _, zone := range s.tags {
		if len(c.inZone(zone)) == 1 && c.zoneInUse(zone) {
			return nil, status.Errorf(status.ZoneStillInUse,
				"Operation not allowed because it would remove the only shard for zone %s which has a chunk range is associated with it", zone)
		}
	}
	s.draining = true
	c.saveShard(s)
	c.logChange(configServer, "removeShard.start", "", value.D("shard", s.name))
	return value.D("msg", "draining started successfully", "state", "started", "shard", s.name, c.toMove(s)), nil
}

// remainingOn counts the chunks, jumbo chunks and databases that are still on a shard.
func (c *Cluster) remainingOn(name string) (chunks, jumbo, dbs int64) {
	for _, r := range c.tables {
		if r.counts[name] == 0 {
			continue
		}
		chunks += int64(r.counts[name])
		for _, ch := range r.chunks {
			if ch.Shard == name && ch.Jumbo {
				jumbo++
			}
		}
	}
	for _, d := range c.dbs {
		if d.primary == name {
			dbs++
		}
	}
	return chunks, jumbo, dbs
}

// dropShard removes an empty shard from the cluster; a new topologyTime on another
// shard notifies the routers.
func (c *Cluster) dropShard(s *shard) {
	c.config.delete("shards", s.record)
	delete(c.Shards, s.name)
	c.shards = slices.DeleteFunc(slices.Clone(c.shards), func(other *shard) bool { return other == s })
	if len(c.shards) > 0 {
		c.shards[0].topology = c.Timestamp()
		c.saveShard(c.shards[0])
	}
	c.logInProgress(true)
	c.logInProgress(false)
	c.logChange(configServer, "removeShard", "", value.D("shard", s.name))
}

// The commands of 8.3 that replace the repeated removeShard, each for one purpose. What
// they answer is assumed from the manual; see docs/simcluster.md.

// namedShard returns the shard that a command of 8.3 names. The caller holds Mu.
func (c *Cluster) namedShard(req *engine.Request) (*shard, error) {
	name, ok := req.Lookup(req.Name).StringValueOK()
	if !ok {
		return nil, status.Errorf(status.TypeMismatch, "BSON field '%s.%s' is the wrong type, expected type 'string'", req.Name, req.Name)
	}
	return c.shardByNameOrHost(name)
}

func (c *Cluster) runStartShardDraining(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	s, err := c.namedShard(req)
	if err != nil || s.draining {
		return bson.D{}, err
	}
	_, err = c.startDraining(s)
	return bson.D{}, err
}

func (c *Cluster) runStopShardDraining(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	s, err := c.namedShard(req)
	if err != nil || !s.draining {
		return bson.D{}, err
	}
	s.draining = false
	c.saveShard(s)
	c.logChange(configServer, "removeShard.stop", "", value.D("shard", s.name))
	return bson.D{}, nil
}

func (c *Cluster) runShardDrainingStatus(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	s, err := c.namedShard(req)
	switch {
	case err != nil:
		return nil, err
	case !s.draining:
		return nil, status.Errorf(status.IllegalOperation, "Shard %s is not draining", s.name)
	}
	if ongoing := c.ongoing(s); ongoing != nil {
		return ongoing, nil
	}
	return value.D("msg", "draining completed", "state", "drainingComplete"), nil
}

func (c *Cluster) runCommitShardRemoval(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	s, err := c.namedShard(req)
	switch {
	case err != nil:
		return nil, err
	case !s.draining:
		return nil, status.Errorf(status.IllegalOperation, "Shard %s is not draining", s.name)
	case c.ongoing(s) != nil:
		return nil, status.Errorf(status.ConflictingOperationInProgress, "Shard %s is not completely drained yet", s.name)
	}
	c.dropShard(s)
	return bson.D{}, nil
}

// addConfigShard makes the config server a shard named config, which can own chunks
// (8.0).
func (c *Cluster) addConfigShard() {
	c.Shards[configServer] = engine.NewNode(configServer)
	c.registerShard(configServer, configHost)
}

// runTransitionFromDedicated makes the config server a shard while the cluster runs.
func (c *Cluster) runTransitionFromDedicated(context.Context, *engine.Request, string) (bson.D, error) {
	if c.shard(configServer) == nil {
		c.addConfigShard()
	}
	return bson.D{}, nil
}

// runTransitionToDedicated reverses that; it is called repeatedly, like removeShard. The documents of chunks that left
// have to be deleted too (the server's source).
func (c *Cluster) runTransitionToDedicated(_ context.Context, req *engine.Request, _ string) (bson.D, error) {
	s := c.shard(configServer)
	if s == nil {
		return nil, noShard(configServer)
	}
	ranges := 0
	for _, o := range c.orphans {
		if o.shard == configServer {
			ranges++
		}
	}
	if s.draining && ranges > 0 && c.ongoing(s) == nil {
		return value.D("msg", "waiting for data to be cleaned up", "state", "pendingDataCleanup",
			"pendingRangeDeletions", int64(ranges)), nil
	}
	return c.drainOrRemove(s)
}

// toMove has the fields of the removeShard reply about data that must be moved
// manually; observed servers always return an empty list of databases.
func (c *Cluster) toMove(s *shard) bson.D {
	dbs := bson.A{}
	if c.since(8) {
		for _, name := range sortedKeys(c.dbs) {
			if c.dbs[name].primary == s.name {
				dbs = append(dbs, name)
			}
		}
	}
	return value.D("note", "you need to drop or movePrimary these databases", "dbsToMove", dbs,
		value.When(c.release.AtLeast(8, 3, 0), "collectionsToMove", c.collectionsToMove(s.name)))
}

// collectionsToMove lists the tracked unsharded collections of a shard, which only
// moveCollection moves.
func (c *Cluster) collectionsToMove(shard string) bson.A {
	list := bson.A{}
	for _, ns := range c.Tracked() {
		if c.unsharded(ns).counts[shard] > 0 {
			list = append(list, ns)
		}
	}
	return list
}
