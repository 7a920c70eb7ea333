package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// addConfigShard makes the config server a shard named config, which can own chunks
// (8.0).
func (c *Cluster) addConfigShard() {
	c.Shards[configServer] = engine.NewNode(configServer)
	c.registerShard(configServer, c.opts.ConfigHost)
}

// runTransitionFromDedicated makes the config server a shard while the cluster runs.
func (c *Cluster) runTransitionFromDedicated(context.Context, *engine.Request) (bson.D, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.shard(configServer) == nil {
		c.addConfigShard()
	}
	return bson.D{}, nil
}

// runTransitionToDedicated reverses that; it is called repeatedly, like removeShard. The documents of chunks that left
// have to be deleted too (the server's source).
func (c *Cluster) runTransitionToDedicated(_ context.Context, req *engine.Request) (bson.D, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
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
		return bson.D{
			{Key: "msg", Value: "waiting for data to be cleaned up"}, {Key: "state", Value: "pendingDataCleanup"},
			{Key: "pendingRangeDeletions", Value: int64(ranges)},
		}, nil
	}
	return c.drainOrRemove(s)
}

// toMove has the fields of the removeShard reply about data that must be moved
// manually; observed servers always return an empty list of databases.
func (c *Cluster) toMove(s *shard) bson.D {
	dbs := bson.A{}
	if c.features.observed8 {
		for _, name := range sortedKeys(c.dbs) {
			if c.dbs[name].primary == s.name {
				dbs = append(dbs, name)
			}
		}
	}
	d := bson.D{{Key: "note", Value: "you need to drop or movePrimary these databases"}, {Key: "dbsToMove", Value: dbs}}
	if c.features.drainingByCommand {
		d = append(d, bson.E{Key: "collectionsToMove", Value: c.collectionsToMove(s.name)})
	}
	return d
}

// collectionsToMove lists the tracked unsharded collections of a shard, which only
// moveCollection moves.
func (c *Cluster) collectionsToMove(shard string) bson.A {
	list := bson.A{}
	for _, ns := range c.Tracked() {
		if c.tracked[ns].counts[shard] > 0 {
			list = append(list, ns)
		}
	}
	return list
}
