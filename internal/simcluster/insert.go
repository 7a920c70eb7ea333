package simcluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// lockedWrites is how many documents are written before the lock is released for
// readers and migrations.
const lockedWrites = 500

func (c *Cluster) insert(ctx context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	docs, err := statements(r, "documents")
	if err != nil {
		return nil, err
	}
	ordered := orderedWrites(ctx, r)
	n, failed := 0, []bson.D(nil)
	for from := 0; from < len(docs); from += lockedWrites {
		part := docs[from:min(from+lockedWrites, len(docs))]
		done, errs, err := c.insertPart(ctx, db, coll, part, from, ordered)
		n, failed = n+done, append(failed, errs...)
		if err != nil {
			return nil, err
		}
		if len(errs) > 0 && ordered {
			break
		}
		if err := engine.Over(ctx); err != nil {
			return nil, err
		}
	}
	c.stats.inserts.Add(int64(n))
	return value.D("n", int32(n), writeErrors(failed)), nil
}

// insertPart writes some documents under one lock, which it releases while a transaction
// is in the way of one; offset is the index of the first within its command.
func (c *Cluster) insertPart(ctx context.Context, db, coll string, docs []bson.Raw, offset int, ordered bool) (n int,
	failed []bson.D, err error) {
	next := 0
	err = c.transactions.lockedWrite(ctx, db, coll, func() error {
		defer c.configWritten(db, coll)
		p := c.inserter(transactionOf(ctx), db, coll)
		defer p.timed(time.Now())
		for ; next < len(docs); next++ {
			switch _, err := p.insert(docs[next]); {
			case err == nil:
				n++
			case endsWrite(ctx, err):
				return err
			default:
				if failed = append(failed, c.writeError(offset+next, err)); ordered {
					return nil
				}
			}
		}
		return nil
	})
	return n, failed, err
}

// insert stores one document and returns it as stored, with _id first.
func (p *inserter) insert(doc bson.Raw) (bson.Raw, error) {
	doc, err := storable(doc)
	if err != nil {
		return nil, err
	}
	if p.series != nil {
		return doc, p.insertMeasurement(*p.series, doc)
	}
	coll, key, err := p.place(doc)
	if err != nil {
		return nil, err
	}
	if _, err = p.cluster.transactions.write(p.tx, coll, 0, doc); err != nil {
		return nil, err
	}
	if p.routing != nil {
		// Shards count the bytes written into each chunk to know when to split it.
		p.cluster.catalog.NoteWrite(p.routing.NS, key, len(doc))
	}
	return doc, nil
}

// configWritten makes the catalog read a config collection again after a client wrote
// to it.
func (c *Cluster) configWritten(db, coll string) {
	if db == "config" {
		c.catalog.ConfigWritten(coll)
	}
}

// inserter inserts documents into one collection, each on the shard that owns its key.
// It is valid while the lock is held.
type inserter struct {
	cluster  *Cluster
	tx       *transaction // nil: the documents are stored at once
	db, coll string
	series   *series                 // of the view that the documents are inserted through; nil if it is none
	routing  *catalog.Routing        // nil: not sharded
	on       map[string]*engine.Coll // by shard, filled on first use
}

// inserter returns an inserter for a collection. The caller holds catalog.Mu for
// writing while using it.
func (c *Cluster) inserter(tx *transaction, db, coll string) *inserter {
	p := &inserter{cluster: c, tx: tx, db: db, coll: coll, routing: c.catalog.Routing(db + "." + coll), on: make(map[string]*engine.Coll)}
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

// place finds or creates the collection where a document belongs: a database and an unsharded collection are created by
// their first document. key is the document's shard key, if there is one.
func (p *inserter) place(doc bson.Raw) (coll *engine.Coll, key bson.Raw, err error) {
	shard := ""
	if p.routing != nil {
		if key, err = p.routing.KeyOf(doc); err != nil {
			return nil, nil, err
		}
		shard = p.routing.Owner(key)
	}
	if coll = p.on[shard]; coll == nil {
		if coll, err = p.cluster.collectionOn(p.tx, p.db, p.coll, shard, p.routing); err != nil {
			return nil, nil, err
		}
		p.on[shard] = coll
	}
	return coll, key, nil
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
		return c.transactions.collectionIn(tx, db, coll, home, false, node.Coll(db, coll))
	}
	live, err := c.liveCollectionOn(db, coll, shard, r)
	if err != nil {
		return nil, err
	}
	return c.transactions.collectionIn(tx, db, coll, shard, true, live)
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
	node := c.makeHome(db, coll)
	if have := node.Coll(db, coll); have != nil {
		return have, nil
	}
	return node.Create(db, coll, c.catalog.UUID(), nil), nil
}

// makeHome is the node of an unsharded collection, whose database it creates if there is none.
func (c *Cluster) makeHome(db, coll string) *engine.Node {
	if db != "config" && db != "admin" {
		c.catalog.EnsureDatabase(db)
	}
	node, _ := c.homeOfColl(db, coll)
	return node
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
	return value.WithID(doc, id), nil
}

// bulkPart is how many documents BulkInsert writes under one lock: enough to fill the
// shards in parallel, few enough not to delay readers.
const bulkPart = 5000

// BulkInsert routes and inserts documents as insert would, but without messages,
// and on all shards at once. Every document must have its _id as first field; the
// bytes belong to the cluster afterwards. On an error some of the documents are in.
func (c *Cluster) BulkInsert(ns string, docs []bson.Raw) error {
	db, coll, ok := cut(ns)
	if !ok {
		return status.Errorf(status.InvalidNamespace, "Invalid namespace specified '%s'", ns)
	}
	for from := 0; from < len(docs); from += bulkPart {
		if err := c.bulkPart(db, coll, docs[from:min(from+bulkPart, len(docs))]); err != nil {
			return fmt.Errorf("insert into %s: %w", ns, err)
		}
	}
	return nil
}

// shardBatch holds the documents of one part that belong to one shard.
type shardBatch struct {
	coll *engine.Coll
	docs []bson.Raw
	err  error
}

func (c *Cluster) bulkPart(db, coll string, docs []bson.Raw) error {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	c.catalog.Timestamp()
	defer c.configWritten(db, coll)
	p := c.inserter(nil, db, coll)
	shares, keys := make(map[*engine.Coll]*shardBatch), make([]bson.Raw, 0, len(docs))
	for _, doc := range docs {
		at, key, err := p.place(doc)
		if err != nil {
			return err
		}
		if shares[at] == nil {
			shares[at] = &shardBatch{coll: at}
		}
		shares[at].docs = append(shares[at].docs, doc)
		if key != nil {
			keys = append(keys, key)
		}
	}
	// Shards have no data in common, so each is filled by its own goroutine; the lock
	// excludes all other commands.
	var filling sync.WaitGroup
	for _, s := range shares {
		filling.Go(s.fill)
	}
	filling.Wait()
	for i, key := range keys {
		c.catalog.NoteWrite(p.routing.NS, key, len(docs[i]))
	}
	for _, s := range shares {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

func (s *shardBatch) fill() {
	for _, doc := range s.docs {
		if _, s.err = s.coll.Insert(doc); s.err != nil {
			return
		}
	}
}
