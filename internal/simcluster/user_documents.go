package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/access"
	"shardboard/internal/simcluster/engine"
)

// mirroringUsers wraps a command so that a change of users or roles is written to
// admin.system.users and admin.system.roles.
func (c *Cluster) mirroringUsers(name string, run engine.Handler) engine.Handler {
	if !access.Changes(name) {
		return run
	}
	return func(ctx context.Context, r *engine.Request) (bson.D, error) {
		reply, err := run(ctx, r)
		if err == nil {
			err = c.writeUserDocuments()
		}
		return reply, err
	}
}

// writeUserDocuments writes users and roles to admin.system.users and
// admin.system.roles. Access control does not read them back, so a client's write there
// has no effect on it.
func (c *Cluster) writeUserDocuments() error {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	c.catalog.Timestamp()
	users, roles := c.access.Documents()
	for name, docs := range map[string][]bson.D{"system.users": users, "system.roles": roles} {
		node := c.catalog.Config
		id := c.catalog.UUID()
		if old := node.Coll("admin", name); old != nil {
			id = old.UUID
			node.Drop("admin", name)
		}
		if len(docs) == 0 {
			continue
		}
		coll := node.Create("admin", name, id, encode(bson.D{}))
		for _, doc := range docs {
			if _, err := coll.Insert(encode(doc)); err != nil {
				return err
			}
		}
	}
	return nil
}
