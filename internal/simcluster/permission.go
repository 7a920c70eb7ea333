package simcluster

import (
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
