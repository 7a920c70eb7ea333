package simcluster

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/value"
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

// stored is target of what is stored under a name, which no view is.
func (c *Cluster) stored(db, coll string, f *query.Filter) target {
	t := target{ns: db + "." + coll}
	if t.routing = c.catalog.Routing(t.ns); t.routing == nil {
		if node, shard := c.homeOfColl(db, coll); node != nil {
			t.sources = []source{{shard: shard, coll: node.Coll(db, coll)}}
		}
		return t
	}
	t.exact = t.routing.KeyFromFilter(f) != nil
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

// idInFilter reports whether a filter demands one exact _id.
func idInFilter(f *query.Filter) bool {
	for _, e := range f.Equalities() {
		if e.Path == "_id" && e.Value.Type != bson.TypeArray && e.Value.Type != bson.TypeRegex {
			return true
		}
	}
	return false
}

// selection says which documents of a target to read.
type selection struct {
	filter  *query.Filter
	sort    *query.Sort
	order   bson.Raw // what sort was compiled from
	skip    int64
	limit   int64 // 0: no limit
	hint    bson.RawValue
	reverse bool // {$natural: -1}
}

// gather reads the selected documents of all sources and merges them: in sort
// order, or source after source. The caller holds catalog.Mu.
func (t target) gather(ctx context.Context, s selection) ([]bson.Raw, error) {
	one := len(t.sources) == 1
	var docs []bson.Raw
	for _, src := range t.sources {
		if src.coll == nil {
			continue
		}
		q := engine.Query{Filter: s.filter, Sort: s.order, Hint: s.hint, Owned: src.owned}
		if one && s.reverse {
			q.Sort = backward
		}
		switch {
		case one:
			q.Skip, q.Limit = s.skip, s.limit
		case s.limit > 0 && !s.reverse:
			q.Limit = s.skip + s.limit
		}
		cur := src.coll.Query(ctx, q)
		docs = append(docs, drain(cur)...)
		if cur.Err() != nil {
			return nil, cur.Err()
		}
	}
	if one {
		return docs, nil
	}
	if s.sort != nil {
		s.sort.Sort(docs)
	}
	if s.reverse {
		slices.Reverse(docs)
	}
	docs = docs[min(s.skip, int64(len(docs))):]
	if s.limit > 0 && s.limit < int64(len(docs)) {
		docs = docs[:s.limit]
	}
	return docs, nil
}

// backward is the sort of a read against the order of insertion.
var backward = encode(value.D("$natural", int32(-1)))

// drain reads an engine cursor to its end.
func drain(cur *engine.Cursor) (docs []bson.Raw) {
	for _, doc := range cur.All() {
		docs = append(docs, doc)
	}
	return docs
}

// hasKey reports whether a document has a field of that name, for arguments that
// only have to be there.
func hasKey(doc bson.Raw, key string) bool { return value.Field(doc, key).Type != 0 }
