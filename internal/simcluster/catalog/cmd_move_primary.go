package catalog

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// runMovePrimary moves a database's unsharded collections to another shard; they get
// new uuids, and the database's version is increased. It answers when all is copied.
// When its client leaves or its time limit passes, the move goes on, and the same
// command joins it.
func (c *Cluster) runMovePrimary(ctx context.Context, req *engine.Request) (bson.D, error) {
	db, _ := req.Lookup(req.Name).StringValueOK()
	to, _ := req.Lookup("to").StringValueOK()
	if db == "" {
		return nil, status.Errorf(status.InvalidNamespace, "invalid db name specified: %s", db)
	}
	if db == "admin" || db == "config" || db == "local" {
		return nil, status.Errorf(status.InvalidOptions, "Can't move primary for %s database", db)
	}
	if to == "" {
		return nil, status.Errorf(status.InvalidOptions, "you have to specify where you want to move it")
	}
	m, err := func() (*primaryMove, error) {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		return c.beginMovePrimary(ctx, db, to, appOf(req))
	}()
	if m == nil || err != nil {
		return bson.D{}, err
	}
	return bson.D{}, m.result(ctx)
}

// beginMovePrimary starts a move on its own goroutine, or returns the running one if it is
// the same. It returns nil when the shard is the primary already. The caller holds Mu.
func (c *Cluster) beginMovePrimary(ctx context.Context, db, to, app string) (*primaryMove, error) {
	d := c.dbs[db]
	switch {
	case d == nil:
		return nil, status.Errorf(status.NamespaceNotFound, "database %s not found", db)
	case c.shard(to) == nil && c.features.observed8:
		return nil, status.Errorf(status.ShardNotFound, "requested primary shard %s does not exist :: caused by :: Shard %s not found", to, to)
	case c.shard(to) == nil:
		return nil, status.Errorf(status.ShardNotFound,
			"Could not move database '%s' to shard '%s' :: caused by :: Shard %s not found", db, to, to)
	case c.life.Err() != nil:
		return nil, errShutdown()
	}
	if m := c.primaries[db]; m != nil {
		if m.to == to {
			return m, nil
		}
		// The code and the text are assumed.
		return nil, status.Errorf(status.ConflictingOperationInProgress,
			"Unable to start new movePrimary operation because this shard is currently moving its primary for namespace %s to %s", db, m.to)
	}
	if d.primary == to {
		return nil, nil
	}
	m := &primaryMove{c: c, db: db, from: d.primary, to: to, app: app, asked: ctx, begun: c.Now(),
		early: make(chan struct{}), done: make(chan struct{})}
	c.primaries[db] = m
	c.work.Go(func() {
		m.err = m.run(c.life)
		c.Mu.Lock()
		delete(c.primaries, db)
		c.Mu.Unlock()
		close(m.done)
	})
	return m, nil
}
