package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/access"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// guardOf is the session whose privileges limit a request. It is nil without access
// control, for internal requests and for the fault command.
func (c *Cluster) guardOf(r *engine.Request) *access.Session {
	if r.Conn == nil || !c.access.Enforced() || c.opts.FaultCommand && r.Name == faultCommand {
		return nil
	}
	return c.access.Of(r.Conn)
}

// checkPermission fails when the user may not run the command.
func (c *Cluster) checkPermission(s *access.Session, r *engine.Request) error {
	if err := c.access.Authorize(s, r); err != nil {
		return err
	}
	switch r.Name {
	case "getMore":
		if id, ok := r.Lookup("getMore").Int64OK(); ok && !c.cursors.ownedBy(id, s.Owner()) {
			return status.Errorf(status.Unauthorized, "cursor id %d was not created by the authenticated user", id)
		}
	case "killCursors":
		for v := range value.Items(r.Lookup("cursors")) {
			if id, ok := v.Int64OK(); ok && !c.cursors.ownedBy(id, s.Owner()) && !s.May(access.OnCluster(), "killAnyCursor") {
				return status.Errorf(status.Unauthorized, "not authorized on %s to execute command %s", r.DB, value.Text(value.Doc(r.Body)))
			}
		}
	}
	return nil
}

// claim makes the user the owner of the cursor in a reply, if there is one. No other
// client knows its id yet.
func (c *Cluster) claim(s *access.Session, reply bson.D) {
	if len(reply) == 0 || reply[0].Key != "cursor" {
		return
	}
	fields, _ := reply[0].Value.(bson.D)
	for _, f := range fields {
		if id, ok := f.Value.(int64); ok && f.Key == "id" && id != 0 {
			c.cursors.claim(id, s.Owner())
		}
	}
}

// mayListDatabase decides which databases a listDatabases shows: all with the
// listDatabases privilege, otherwise those on which the user has any privilege.
// authorizedDatabases selects one or the other.
func (c *Cluster) mayListDatabase(r *engine.Request) (func(db string) bool, error) {
	s := c.guardOf(r)
	if s == nil {
		return func(string) bool { return true }, nil
	}
	all := s.May(access.OnCluster(), "listDatabases")
	if own := r.Lookup("authorizedDatabases"); own.Type != 0 {
		if !truthy(own) && !all {
			return nil, status.Errorf(status.Unauthorized, "Insufficient permissions to list all databases")
		}
		all = !truthy(own)
	}
	return func(db string) bool { return all || s.MayAnythingIn(db) }, nil
}

// mayListCollection decides which collections a listCollections shows.
func (c *Cluster) mayListCollection(r *engine.Request) func(coll string) bool {
	s := c.guardOf(r)
	if s == nil || !truthy(r.Lookup("nameOnly")) || !truthy(r.Lookup("authorizedCollections")) {
		return func(string) bool { return true }
	}
	return func(coll string) bool { return s.MayAnythingOn(r.DB, coll) }
}

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
