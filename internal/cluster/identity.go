package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// Identity reads the authenticated user and its privileges. It needs no privilege.
func (c *Client) Identity(ctx context.Context) (topology.Identity, error) {
	cmd := bson.D{{Key: "connectionStatus", Value: int32(1)}, {Key: "showPrivileges", Value: true}}
	reply, err := c.one(ctx, "admin", cmd, readOp{what: "ask what the cluster user may do"})
	if err != nil {
		return topology.Identity{}, err
	}
	var id topology.Identity
	info, _ := reply.Lookup("authInfo").DocumentOK()
	documents(info, "authenticatedUsers", func(user bson.Raw) {
		name, _ := user.Lookup("user").StringValueOK()
		db, _ := user.Lookup("db").StringValueOK()
		id.Users = append(id.Users, name+"@"+db)
	})
	documents(info, "authenticatedUserRoles", func(role bson.Raw) {
		name, _ := role.Lookup("role").StringValueOK()
		db, _ := role.Lookup("db").StringValueOK()
		id.Roles = append(id.Roles, name+"@"+db)
	})
	documents(info, "authenticatedUserPrivileges", func(doc bson.Raw) {
		on, _ := doc.Lookup("resource").DocumentOK()
		g := topology.Grant{On: decodeResource(on)}
		actions, _ := doc.Lookup("actions").ArrayOK()
		w := walk(actions)
		for w.next() {
			if name, ok := w.str(); ok {
				g.Actions = append(g.Actions, name)
			}
		}
		id.Grants = append(id.Grants, g)
	})
	return id, nil
}

// documents calls f with each document of an array.
func documents(doc bson.Raw, field string, f func(bson.Raw)) {
	list, _ := doc.Lookup(field).ArrayOK()
	w := walk(list)
	for w.next() {
		if one, ok := w.doc(); ok {
			f(one)
		}
	}
}

func decodeResource(doc bson.Raw) (r topology.Resource) {
	r.Other = true
	w := walk(doc)
	for w.next() {
		switch string(w.key) {
		case "cluster":
			r.Cluster, r.Other = w.truthy(), false
		case "anyResource":
			r.Any, r.Other = w.truthy(), false
		case "db":
			r.DB, _ = w.str()
		case "collection":
			r.Collection, _ = w.str()
			r.Other = false
		}
	}
	return r
}

// Clock reads the mongos's clock. It needs no privilege.
func (c *Client) Clock(ctx context.Context) (topology.Clock, error) {
	out := topology.Clock{Asked: time.Now()}
	reply, err := c.one(ctx, "admin", bson.D{{Key: "hello", Value: int32(1)}}, readOp{what: "ask for the time"})
	out.Answered = time.Now()
	if err != nil {
		return out, err
	}
	if at, ok := reply.Lookup("localTime").TimeOK(); ok {
		out.Theirs = at
	}
	return out, nil
}

// MayFind checks whether find on a collection is permitted, by looking for an _id that
// does not exist: fault.Forbidden when it is not. No data is read.
func (c *Client) MayFind(ctx context.Context, ns topology.Namespace) error {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: bson.MinKey{}}}}}
	cmd := find(ns.Collection(), filter, append(singleBatch(1), fields("_id"))...)
	r := readOp{what: "read " + quoted(string(ns)), privilege: "find on " + string(ns)}
	return c.each(ctx, ns.Database(), cmd, r, func(bson.Raw) error { return nil })
}
