package simcluster

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// inserter inserts documents into one collection, each on the shard that owns its key.
// It is valid while the lock is held.
type inserter struct {
	cluster  *Cluster
	tx       *transaction // nil: the documents are stored at once
	db, coll string
	series   *series                 // of the view that the documents are inserted through; nil if it is none
	routing  *catalog.Routing        // nil: not sharded
	on       map[string]*engine.Coll // by shard, filled on first use
	last     *engine.Coll            // of the last document
	lastName string
}

// inserter returns an inserter for a collection. The caller holds catalog.Mu for
// writing while using it.
func (c *Cluster) inserter(tx *transaction, db, coll string) *inserter {
	p := &inserter{cluster: c, tx: tx, db: db, coll: coll, routing: c.catalog.Routing(db + "." + coll)}
	if node, _ := c.homeOfColl(db, coll); p.routing == nil && node != nil && node.Coll(db, coll) == nil {
		if s, ok := c.seriesOf(db, coll); ok {
			p.series, p.coll = &s, bucketsPrefix+coll
			p.routing = c.catalog.Routing(db + "." + p.coll)
		}
	}
	return p
}

// timed adds the elapsed time to the latencies of the shards written to; call it
// deferred.
func (p *inserter) timed(begin time.Time) {
	took := time.Since(begin)
	for shard := range p.on {
		if shard == "" {
			_, shard = p.cluster.homeOfColl(p.db, p.coll)
		}
		p.cluster.stats.took(shard, p.db+"."+p.coll, true, took)
	}
}

// collectionOn finds or creates the collection on the shard: a database and an
// unsharded collection are created by their first document.
func (p *inserter) collectionOn(shard string) (*engine.Coll, error) {
	if p.last != nil && p.lastName == shard {
		return p.last, nil
	}
	coll := p.on[shard]
	if coll == nil {
		var err error
		if coll, err = p.cluster.collectionOn(p.tx, p.db, p.coll, shard, p.routing); err != nil {
			return nil, err
		}
		if p.on == nil {
			p.on = make(map[string]*engine.Coll)
		}
		p.on[shard] = coll
	}
	p.last, p.lastName = coll, shard
	return coll, nil
}

// collectionOn finds or creates a collection: on its home without a routing
// table, else on the given shard. A transaction gets its own copy.
func (c *Cluster) collectionOn(tx *transaction, db, coll, shard string, r *catalog.Routing) (*engine.Coll, error) {
	switch {
	case tx == nil:
		return c.liveCollectionOn(db, coll, shard, r)
	case r == nil:
		c.catalog.EnsureDatabase(db)
		node, home := c.homeOfColl(db, coll)
		return c.collectionIn(tx, db, coll, home, false, node.Coll(db, coll))
	}
	live, err := c.liveCollectionOn(db, coll, shard, r)
	if err != nil {
		return nil, err
	}
	return c.collectionIn(tx, db, coll, shard, true, live)
}

func (c *Cluster) liveCollectionOn(db, coll, shard string, r *catalog.Routing) (*engine.Coll, error) {
	if r != nil {
		if have := c.catalog.Shards[shard].Coll(db, coll); have != nil {
			return have, nil
		}
		var model *engine.Coll
		for _, s := range r.ShardsOwning() {
			if model = c.catalog.Shards[s].Coll(db, coll); model != nil {
				break
			}
		}
		return c.catalog.EnsureCollection(shard, db+"."+coll, r.UUID, model)
	}
	node := c.catalog.Config
	if db != "config" && db != "admin" {
		c.catalog.EnsureDatabase(db)
		node, _ = c.homeOfColl(db, coll)
	}
	if have := node.Coll(db, coll); have != nil {
		return have, nil
	}
	return node.Create(db, coll, c.catalog.UUID(), nil), nil
}

// storable checks a document and moves its _id to the front, generating one if needed.
func storable(doc bson.Raw) (bson.Raw, error) {
	if len(doc) > maxDocument {
		return nil, status.Errorf(status.BadValue, "object to insert too large. size in bytes: %d, max size: %d", len(doc), maxDocument)
	}
	name, id := value.First(doc)
	first := name == "_id"
	if !first {
		id = value.Field(doc, "_id")
	}
	switch id.Type {
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return nil, status.Errorf(53, "The '_id' value cannot be of type %s", typeName(id.Type))
	case 0:
		id = value.ObjectID(bson.NewObjectID())
	}
	if first {
		return doc, nil
	}
	b := value.NewBuilder(len(doc)+20).Append("_id", id)
	for e := value.Read(doc); e.Next(); {
		if string(e.Key) != "_id" {
			b.Append(string(e.Key), e.Value)
		}
	}
	return b.Raw(), nil
}
