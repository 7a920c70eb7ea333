package workload

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// index is one index that Yorkie declares.
type index struct {
	key     bson.D
	name    string
	unique  bool
	partial bson.D
	ttl     *int32
}

// collection is one collection of a layout; a nil key leaves it unsharded.
type collection struct {
	name    string
	key     bson.D
	indexes []index
}

type layout struct {
	name        string
	collections []collection
	versioned   bool // version vectors and revisions exist (0.5.3 and later)
}

func layoutOf(name string) (layout, error) {
	switch name {
	case "yorkie-head":
		return layout{name: name, collections: collections(true), versioned: true}, nil
	case "yorkie-0.4":
		return layout{name: name, collections: collections(false)}, nil
	}
	return layout{}, fmt.Errorf("unknown layout %q: yorkie-head or yorkie-0.4", name)
}

// collections are those of Yorkie 0.7 (head) or 0.4, in the order in which the
// server creates them. snapshot_bodies stays unsharded: no release's set-up
// shards it.
func collections(head bool) []collection {
	zero, ten := int32(0), int32(10)
	byDoc, clientsKey := bson.D{{Key: "doc_id", Value: int32(1)}}, asc("project_id")
	if head {
		byDoc = bson.D{{Key: "doc_id", Value: "hashed"}}
		clientsKey = bson.D{{Key: "project_id", Value: int32(1)}, {Key: "_id", Value: "hashed"}}
	}
	seq := unique("doc_id", "project_id", "server_seq")
	out := []collection{
		{name: "clusternodes", indexes: []index{
			unique("rpc_addr"),
			{key: asc("is_leader"), name: "is_leader_true_unique", unique: true, partial: bson.D{{Key: "is_leader", Value: true}}},
			{key: asc("updated_at"), name: "ttl_updated_at", ttl: &ten},
		}},
		{name: "users", indexes: []index{unique("username")}},
		{name: "projects", indexes: []index{unique("name"), plain("owner"), unique("public_key"), unique("secret_key")}},
		{name: "clients", key: clientsKey, indexes: []index{
			plain("project_id", "status", "updated_at"),
			plain("project_id", "attached_docs"),
			plain("status", "_id"),
		}},
		{name: "documents", key: asc("project_id"), indexes: []index{
			unique("project_id", "key", "removed_at"), plain("server_seq", "_id"),
		}},
		{name: "changes", key: byDoc, indexes: []index{seq, unique("doc_id", "project_id", "actor_id", "server_seq")}},
		{name: "snapshots", key: byDoc, indexes: []index{seq}},
	}
	if !head {
		return append(out, collection{name: "syncedseqs", key: byDoc, indexes: []index{
			unique("doc_id", "project_id", "client_id"),
			plain("doc_id", "project_id", "lamport", "actor_id"),
		}})
	}
	out[3].indexes = append(out[3].indexes, plain("project_id", "attaching_docs"))
	return append(out,
		collection{name: "members", indexes: []index{unique("project_id", "user_id"), plain("project_id"), plain("user_id")}},
		collection{name: "invites", indexes: []index{
			unique("token"), plain("project_id"), {key: asc("expires_at"), name: "ttl_expires_at", ttl: &zero},
		}},
		collection{name: "schemas", key: asc("project_id"), indexes: []index{unique("project_id", "name", "version")}},
		collection{name: "snapshot_bodies", indexes: []index{seq}},
		collection{name: "versionvectors", key: byDoc, indexes: []index{unique("doc_id", "project_id", "client_id")}},
		collection{name: "revisions", key: byDoc},
	)
}

func asc(fields ...string) bson.D {
	var d bson.D
	for _, f := range fields {
		d = append(d, bson.E{Key: f, Value: int32(1)})
	}
	return d
}

func plain(fields ...string) index {
	name := ""
	for _, f := range fields {
		if name != "" {
			name += "_"
		}
		name += f + "_1"
	}
	return index{key: asc(fields...), name: name}
}

func unique(fields ...string) index {
	i := plain(fields...)
	i.unique = true
	return i
}

func (i index) spec() bson.D {
	d := bson.D{{Key: "key", Value: i.key}, {Key: "name", Value: i.name}}
	if i.unique {
		d = append(d, bson.E{Key: "unique", Value: true})
	}
	if i.partial != nil {
		d = append(d, bson.E{Key: "partialFilterExpression", Value: i.partial})
	}
	if i.ttl != nil {
		d = append(d, bson.E{Key: "expireAfterSeconds", Value: *i.ttl})
	}
	return d
}
