package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// applyUpdate runs a statement on the shards it is for. The caller holds
// catalog.Mu for writing.
func (c *Cluster) applyUpdate(ctx context.Context, db, coll string, s updateStatement) (done updateResult, err error) {
	t, err := c.targetUpdate(db, coll, s)
	if err != nil {
		return done, err
	}
	defer c.timed(t, true, time.Now())
	for _, src := range t.sources {
		if src.coll == nil {
			continue
		}
		q := engine.Query{Filter: s.filter, Hint: s.hint, Owned: src.owned}
		if !s.multi {
			q.Limit = 1
		}
		found, err := findDocuments(ctx, src.coll.Query(q))
		if err != nil {
			return done, err
		}
		for _, rec := range found {
			_, changed, err := c.changeDocument(t, src, rec, s)
			if err != nil {
				return done, err
			}
			done.matched++
			if changed {
				done.modified++
			}
		}
	}
	if done.matched > 0 || !s.upsert {
		return done, nil
	}
	doc, err := c.upsert(db, coll, t, s)
	if err == nil {
		done.upserted = value.Field(doc, "_id")
	}
	return done, err
}

// foundDocument is a document that a write statement matched.
type foundDocument struct {
	id  engine.RecordID
	doc bson.Raw
}

// findDocuments reads all matches before the first is changed, so that no document is
// matched twice because of its own change.
func findDocuments(ctx context.Context, cur *engine.Cursor) ([]foundDocument, error) {
	var found []foundDocument
	for cur.Next() {
		if found = append(found, foundDocument{cur.ID(), cur.Doc()}); len(found)%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return found, cur.Err()
}

// changeDocument applies the statement to one document, moving it when its shard key now
// belongs to another shard.
func (c *Cluster) changeDocument(t target, src source, rec foundDocument, s updateStatement) (after bson.Raw, changed bool, err error) {
	after, changed, err = s.change.Apply(rec.doc, s.filter)
	if err != nil || !changed {
		return rec.doc, false, err
	}
	if len(after) > maxDocument {
		return nil, false, status.Errorf(17419, "Resulting document after update is larger than %d", maxDocument)
	}
	if t.routing != nil {
		moved, err := c.updateShardKey(t, src, rec, after, s)
		if moved || err != nil {
			return after, moved, err
		}
	}
	if err := src.coll.Update(rec.id, after); err != nil {
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
