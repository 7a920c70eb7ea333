package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

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

func (c *Cluster) runStartShardDraining(_ context.Context, req *engine.Request) (bson.D, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	s, err := c.namedShard(req)
	if err != nil || s.draining {
		return bson.D{}, err
	}
	_, err = c.startDraining(s)
	return bson.D{}, err
}

func (c *Cluster) runStopShardDraining(_ context.Context, req *engine.Request) (bson.D, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	s, err := c.namedShard(req)
	if err != nil || !s.draining {
		return bson.D{}, err
	}
	s.draining = false
	c.saveShard(s)
	c.logChange(configServer, "removeShard.stop", "", bson.D{{Key: "shard", Value: s.name}})
	return bson.D{}, nil
}

func (c *Cluster) runShardDrainingStatus(_ context.Context, req *engine.Request) (bson.D, error) {
	c.Mu.RLock()
	defer c.Mu.RUnlock()
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
	return bson.D{{Key: "msg", Value: "draining completed"}, {Key: "state", Value: "drainingComplete"}}, nil
}

func (c *Cluster) runCommitShardRemoval(_ context.Context, req *engine.Request) (bson.D, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
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
