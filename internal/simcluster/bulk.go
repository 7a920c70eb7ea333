package simcluster

import (
	"fmt"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

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
	shares, keys := make(map[string]*shardBatch), make([]bson.Raw, 0, len(docs))
	for _, doc := range docs {
		shard := ""
		if p.routing != nil {
			key, err := p.routing.KeyOf(doc)
			if err != nil {
				return err
			}
			keys = append(keys, key)
			shard = p.routing.Owner(key)
		}
		s := shares[shard]
		if s == nil {
			at, err := p.collectionOn(shard)
			if err != nil {
				return err
			}
			s = &shardBatch{coll: at}
			shares[shard] = s
		}
		s.docs = append(s.docs, doc)
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
