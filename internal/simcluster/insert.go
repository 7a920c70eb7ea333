package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// lockedWrites is how many documents are written before the lock is released for
// readers and migrations.
const lockedWrites = 500

func (c *Cluster) insert(ctx context.Context, r *engine.Request) (bson.D, error) {
	db, coll, err := namespace(r)
	if err != nil {
		return nil, err
	}
	if err := writable(db, coll); err != nil {
		return nil, err
	}
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
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	c.stats.inserted(n)
	reply := bson.D{{Key: "n", Value: int32(n)}}
	return withWriteErrors(reply, failed), nil
}

// insertPart writes some documents under one lock, which it releases while a transaction
// is in the way of one; offset is the index of the first within its command.
func (c *Cluster) insertPart(ctx context.Context, db, coll string, docs []bson.Raw, offset int, ordered bool) (n int,
	failed []bson.D, err error) {
	next := 0
	err = c.lockedWrite(ctx, db, coll, func() error {
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
	var shard string
	var key bson.Raw
	if p.routing != nil {
		if key, err = p.routing.KeyOf(doc); err != nil {
			return nil, err
		}
		shard = p.routing.Owner(key)
	}
	coll, err := p.collectionOn(shard)
	if err != nil {
		return nil, err
	}
	if err = p.cluster.insertInto(p.tx, coll, doc); err != nil {
		return nil, err
	}
	if p.routing != nil {
		// Shards count the bytes written into each chunk to know when to split it.
		p.cluster.catalog.NoteWrite(p.routing.NS, key, len(doc))
	}
	return doc, nil
}

// writable rejects namespaces that clients may not write through a mongos.
func writable(db, coll string) error {
	if db == "local" {
		return status.Errorf(status.IllegalOperation, "Can't write to the local database through mongos")
	}
	return nil
}

// configWritten makes the catalog read a config collection again after a client wrote
// to it.
func (c *Cluster) configWritten(db, coll string) {
	if db == "config" {
		c.catalog.ConfigWritten(coll)
	}
}
