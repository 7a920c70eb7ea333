package workload

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
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

// layout is the data layout of a range of Yorkie releases. The flags are further
// differences in rows and fields.
type layout struct {
	name        string
	collections []collection
	syncedSeqs  bool // before 0.6.7: what each client has seen is kept in syncedseqs too
	vectors     bool // from 0.5.3: version vectors; presence is no longer a string
	attached    bool // from 0.6.18: schemas, client metadata and attached_docs
	current     bool // head: revisions, members, cached counts, attaching_docs, epochs
}

// layouts are the names that layoutOf takes, oldest first.
var layouts = []string{"yorkie-0.4", "yorkie-0.5.7", "yorkie-0.6.20", "yorkie-0.6.38", "yorkie-head"}

func layoutOf(name string) (layout, error) {
	i := slices.Index(layouts, name)
	if i < 0 {
		return layout{}, fmt.Errorf("unknown layout %q: one of %s", name, strings.Join(layouts, ", "))
	}
	l := layout{name: name, syncedSeqs: i <= 1, vectors: i >= 1, attached: i >= 2, current: i == 4}
	l.collections = l.declare(i >= 3)
	return l, nil
}

// declare lists the collections in the order in which the server creates them.
// Collections keyed by document are ranged until 0.6.20 and hashed from then on;
// clients are hashed by id from 0.6.38 on. snapshot_bodies is unsharded in every
// release.
func (l layout) declare(spreadClients bool) []collection {
	zero := int32(0)
	byDoc, clientsKey := asc("doc_id"), asc("project_id")
	if l.attached {
		byDoc = value.D("doc_id", "hashed")
	}
	clientsKey = append(clientsKey, value.When(spreadClients, "_id", "hashed")...)
	seq, perClient := unique("doc_id", "project_id", "server_seq"), unique("doc_id", "project_id", "client_id")
	var out []collection
	if spreadClients {
		out = append(out, clusterNodes())
	}
	out = append(out,
		collection{name: "users", indexes: []index{unique("username")}},
		collection{name: "projects", indexes: l.projectIndexes()},
		collection{name: "clients", key: clientsKey, indexes: l.clientIndexes(spreadClients)},
		collection{name: "documents", key: asc("project_id"), indexes: l.documentIndexes()},
		collection{name: "changes", key: byDoc, indexes: []index{seq, unique("doc_id", "project_id", "actor_id", "server_seq")}},
		collection{name: "snapshots", key: byDoc, indexes: []index{seq}},
	)
	if l.syncedSeqs {
		out = append(out, collection{name: "syncedseqs", key: byDoc, indexes: []index{
			perClient, plain("doc_id", "project_id", "lamport", "actor_id"),
		}})
	}
	if l.current {
		out = append(out,
			collection{name: "members", indexes: []index{unique("project_id", "user_id"), plain("project_id"), plain("user_id")}},
			collection{name: "invites", indexes: []index{
				unique("token"), plain("project_id"), {key: asc("expires_at"), name: "ttl_expires_at", ttl: &zero},
			}},
		)
	}
	if l.attached {
		out = append(out, collection{name: "schemas", key: asc("project_id"), indexes: []index{unique("project_id", "name", "version")}})
	}
	if l.current {
		out = append(out, collection{name: "snapshot_bodies", indexes: []index{seq}})
	}
	if l.vectors {
		out = append(out, collection{name: "versionvectors", key: byDoc, indexes: []index{perClient}})
	}
	if l.current {
		out = append(out, collection{name: "revisions", key: byDoc})
	}
	return out
}

func clusterNodes() collection {
	ten := int32(10)
	return collection{name: "clusternodes", indexes: []index{
		unique("rpc_addr"),
		{key: asc("is_leader"), name: "is_leader_true_unique", unique: true, partial: value.D("is_leader", true)},
		{key: asc("updated_at"), name: "ttl_updated_at", ttl: &ten},
	}}
}

// projectIndexes depend on the release: names were unique per owner until 0.6.43.
func (l layout) projectIndexes() []index {
	out := []index{unique("owner", "name")}
	if l.current {
		out = []index{unique("name"), plain("owner")}
	}
	return append(out, unique("public_key"), unique("secret_key"))
}

// clientIndexes depend on the shard key: with a hashed _id the client key cannot be
// unique.
func (l layout) clientIndexes(spread bool) []index {
	var out []index
	if !spread {
		out = append(out, unique("project_id", "key"))
	}
	out = append(out, plain("project_id", "status", "updated_at"))
	if l.attached {
		out = append(out, plain("project_id", "attached_docs"))
	}
	if l.current {
		out = append(out, plain("status", "_id"), plain("project_id", "attaching_docs"))
	}
	return out
}

func (l layout) documentIndexes() []index {
	out := []index{unique("project_id", "key", "removed_at")}
	if l.current {
		out = append(out, plain("server_seq", "_id"))
	}
	return out
}

func asc(fields ...string) bson.D {
	var d bson.D
	for _, f := range fields {
		d = append(d, bson.E{Key: f, Value: int32(1)})
	}
	return d
}

func plain(fields ...string) index {
	return index{key: asc(fields...), name: strings.Join(fields, "_1_") + "_1"}
}

func unique(fields ...string) index {
	i := plain(fields...)
	i.unique = true
	return i
}

func (i index) spec() bson.D {
	return value.D("key", i.key, "name", i.name, value.When(i.unique, "unique", true),
		value.When(i.partial != nil, "partialFilterExpression", i.partial),
		value.When(i.ttl != nil, "expireAfterSeconds", i.ttl))
}
