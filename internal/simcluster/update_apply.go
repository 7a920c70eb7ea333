package simcluster

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// applyUpdate runs a statement on the shards it is for. The caller holds
// catalog.Mu for writing.
func (c *Cluster) applyUpdate(ctx context.Context, db, coll string, s updateStatement) (done updateResult, err error) {
	tx := transactionOf(ctx)
	t, err := c.targetUpdate(db, coll, s)
	if err == nil {
		t, err = c.seenBy(tx, t)
	}
	if err != nil {
		return done, err
	}
	defer c.timed(t, true, time.Now())
	q := engine.Query{Filter: s.filter, Hint: s.hint}
	if !s.multi {
		q.Limit = 1
	}
	found, err := t.findDocuments(ctx, q)
	if err != nil {
		return done, err
	}
	found = c.first(found, !s.multi, s.filter)
	if err := c.checkFree(tx, found); err != nil {
		return done, err
	}
	for _, rec := range found {
		_, changed, err := c.changeDocument(tx, t, rec, s)
		if err != nil {
			if locked := (*lockedError)(nil); done.modified > 0 && errors.As(err, &locked) {
				err = writeConflict() // waiting would change the first documents twice
			}
			return done, err
		}
		done.matched++
		if changed {
			done.modified++
		}
	}
	if done.matched > 0 || !s.upsert {
		return done, nil
	}
	doc, err := c.upsert(tx, db, coll, t, s)
	if err == nil {
		done.upserted = value.Field(doc, "_id")
	}
	return done, err
}

// foundDocument is a document that a write statement matched.
type foundDocument struct {
	id     engine.RecordID
	doc    bson.Raw
	source source
}

// findDocuments reads all matches of all sources before the first is changed, so that no
// document is matched twice because of its own change. The query's limit counts for each
// source.
func (t target) findDocuments(ctx context.Context, q engine.Query) (found []foundDocument, err error) {
	for _, src := range t.sources {
		if src.coll == nil {
			continue
		}
		q.Owned = src.owned
		cur := src.coll.Query(q)
		for cur.Next() {
			if found = append(found, foundDocument{cur.ID(), cur.Doc(), src}); len(found)%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if err := cur.Err(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// changeDocument applies the statement to one document, moving it when its shard key now
// belongs to another shard.
func (c *Cluster) changeDocument(tx *transaction, t target, rec foundDocument, s updateStatement) (after bson.Raw, changed bool,
	err error) {
	after, changed, err = s.change.Apply(rec.doc)
	if err != nil || !changed {
		return rec.doc, false, err
	}
	if len(after) > maxDocument {
		return nil, false, status.Errorf(17419, "Resulting document after update is larger than %d", maxDocument)
	}
	if t.routing != nil {
		moved, err := c.updateShardKey(tx, t, rec, after, s)
		if moved || err != nil {
			return after, moved, err
		}
	}
	if err := c.replaceIn(tx, rec.source.coll, rec.id, after); err != nil {
		return nil, false, err
	}
	c.noteWrite(t, after)
	return after, true, nil
}

// noteWrite counts the bytes written to a chunk; shards split a chunk when enough came
// in.
func (c *Cluster) noteWrite(t target, doc bson.Raw) {
	if t.routing == nil {
		return
	}
	if key, err := t.routing.KeyOf(doc); err == nil {
		c.catalog.NoteWrite(t.ns, key, len(doc))
	}
}
