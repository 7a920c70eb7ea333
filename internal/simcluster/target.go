package simcluster

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
)

// configShard is the name of the config server in lists of shards.
const configShard = "config"

// source is one shard, or the config server, that a read targets.
type source struct {
	shard string
	coll  *engine.Coll            // nil when the node has no such collection
	owned func(doc bson.Raw) bool // nil when every document counts
}

// target lists the sources that may have documents matching a filter.
type target struct {
	ns      string
	routing *catalog.Routing // nil: not sharded
	exact   bool             // the filter binds the whole shard key
	sources []source
}

// target finds the nodes for a read. Collections of config and admin live on the
// config server; an unsharded collection lives on its database's primary; a
// sharded one on the shards whose chunks the filter may touch. The caller holds
// catalog.Mu.
func (c *Cluster) target(db, coll string, f *query.Filter) target {
	t := c.stored(db, coll, f)
	if t.routing == nil && len(t.sources) == 1 && t.sources[0].coll == nil && c.version.atLeast(5, 0, 0) {
		if s, ok := c.seriesOf(db, coll); ok {
			return c.unpacked(db, coll, s)
		}
	}
	return t
}

// everywhereStored targets every shard that owns chunks of what is stored under a name, which no view is.
func (c *Cluster) everywhereStored(db, coll string) target { return c.stored(db, coll, nil) }

func (c *Cluster) stored(db, coll string, f *query.Filter) target {
	t := target{ns: db + "." + coll}
	if t.routing = c.catalog.Routing(t.ns); t.routing == nil {
		if node, shard := c.homeOfColl(db, coll); node != nil {
			t.sources = []source{{shard: shard, coll: node.Coll(db, coll)}}
		}
		return t
	}
	_, t.exact = keyInFilter(t.routing, f)
	for _, shard := range t.routing.Target(f) {
		s := source{shard: shard, coll: c.catalog.Shards[shard].Coll(db, coll)}
		if !t.exact {
			// A query by the full key reaches only the owner, so the ownership filter is
			// skipped, as in the server (extractShardKeyFromQuery in db/query/get_executor.cpp).
			s.owned = func(doc bson.Raw) bool { return t.routing.Owns(shard, doc) }
		}
		t.sources = append(t.sources, s)
	}
	return t
}

// everywhere targets every shard that owns chunks.
func (c *Cluster) everywhere(db, coll string) target { return c.target(db, coll, nil) }

// home is the node of a database's unsharded collections, nil when the database
// does not exist. local is not reachable through a mongos.
func (c *Cluster) home(db string) (*engine.Node, string) {
	switch db {
	case "config", "admin":
		return c.catalog.Config, configShard
	case "local":
		return nil, ""
	}
	shard, ok := c.catalog.Primary(db)
	if !ok {
		return nil, ""
	}
	return c.catalog.Shards[shard], shard
}

// homeOfColl is the node of one unsharded collection: its database's home, unless it
// was moved away from there (8.0).
func (c *Cluster) homeOfColl(db, coll string) (*engine.Node, string) {
	node, shard := c.home(db)
	if node == nil || shard == configShard && node == c.catalog.Config {
		return node, shard
	}
	shard, _ = c.catalog.Home(db, coll)
	return c.catalog.Shards[shard], shard
}

// withConfig puts the config server before the shards unless it is one (8.0).
func (c *Cluster) withConfig(shards []string) []string {
	if slices.Contains(shards, configShard) {
		return shards
	}
	return slices.Insert(shards, 0, configShard)
}

// keyInFilter builds the full shard key from a filter's equality conditions.
func keyInFilter(r *catalog.Routing, f *query.Filter) (bson.Raw, bool) {
	if f.Empty() {
		return nil, false
	}
	var doc bson.D
	equalities := f.Equalities()
	for _, field := range r.FieldNames() {
		found := false
		for _, e := range equalities {
			if e.Path == field && e.Value.Type != bson.TypeArray {
				doc = setPath(doc, strings.Split(field, "."), e.Value)
				found = true
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	raw, err := bson.Marshal(doc)
	if err != nil {
		return nil, false
	}
	key, err := r.KeyOf(raw)
	return key, err == nil
}

// setPath puts a value at a dotted path of a document that is being built.
func setPath(doc bson.D, path []string, v bson.RawValue) bson.D {
	if len(path) == 1 {
		return append(doc, bson.E{Key: path[0], Value: v})
	}
	for i := range doc {
		if inner, ok := doc[i].Value.(bson.D); ok && doc[i].Key == path[0] {
			doc[i].Value = setPath(inner, path[1:], v)
			return doc
		}
	}
	return append(doc, bson.E{Key: path[0], Value: setPath(nil, path[1:], v)})
}

// idInFilter reports whether a filter demands one exact _id.
func idInFilter(f *query.Filter) bool {
	for _, e := range f.Equalities() {
		if e.Path == "_id" && e.Value.Type != bson.TypeArray && e.Value.Type != bson.TypeRegex {
			return true
		}
	}
	return false
}
