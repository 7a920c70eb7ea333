package simcluster

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
)

// targetUpdate says which shards an update goes to, by the rules of 5.0
// (s/write_ops/chunk_manager_targeter.cpp, targetUpdate). The caller holds
// catalog.Mu.
func (c *Cluster) targetUpdate(db, coll string, s updateStatement) (target, error) {
	t := c.target(db, coll, s.filter)
	if t.routing == nil || s.multi && !s.upsert {
		return t, nil
	}
	if s.upsert {
		if !t.exact && !c.writesOneAnywhere() {
			return t, status.Errorf(status.ShardKeyNotFound, "Failed to target upsert by query :: could not extract exact shard key")
		}
		return t, nil
	}
	if len(t.sources) == 1 {
		return t, nil
	}
	if s.change.IsReplacement() {
		doc, _ := s.u.DocumentOK()
		key, err := replacementKey(t.routing, doc)
		if err != nil {
			return t, err
		}
		return t.only(t.routing.Owner(key)), nil
	}
	if !idInFilter(s.filter) && !c.writesOneAnywhere() {
		return t, status.Errorf(status.InvalidOptions, "A {multi:false} update on a sharded collection must contain an "+
			"exact match on _id (and have the collection default collation) or target a single shard (and have the simple "+
			"collation), but this update targeted %d shards. Update request: %s, shard key pattern: %s",
			len(t.sources), s.text(), shellText(t.routing.Key))
	}
	return t, nil
}

// writesOneAnywhere tells whether a router finds the document of an update or deletion of one document that names no
// shard key (seen on 8.0.10; the manual has it from 7.1 on).
func (c *Cluster) writesOneAnywhere() bool { return c.version.atLeast(8, 0, 0) }

// first keeps what an update or deletion of one document changes: a document that is found on several shards is
// changed once, unless its _id sends the write to all of them.
func (c *Cluster) first(found []foundDocument, one bool, f *query.Filter) []foundDocument {
	if one && len(found) > 1 && c.writesOneAnywhere() && !idInFilter(f) {
		return found[:1]
	}
	return found
}

// replacementKey is the shard key of a replacement document, which must have all
// of its fields for targeting.
func replacementKey(r *catalog.Routing, doc bson.Raw) (bson.Raw, error) {
	for _, f := range r.FieldNames() {
		if !hasPath(doc, f) {
			return nil, status.Errorf(status.ShardKeyNotFound,
				"Failed to target update by replacement document :: could not extract exact shard key")
		}
	}
	return r.KeyOf(doc)
}

// only restricts a target to one shard.
func (t target) only(shard string) target {
	for _, s := range t.sources {
		if s.shard == shard {
			t.sources = []source{s}
			return t
		}
	}
	t.sources = nil
	return t
}

// text is the statement as error messages show it.
func (s updateStatement) text() string {
	return shellText(encode(bson.D{
		{Key: "q", Value: s.q}, {Key: "u", Value: s.u},
		{Key: "multi", Value: s.multi}, {Key: "upsert", Value: s.upsert},
	}))
}

// updateShardKey applies an update that changes the shard key. It is allowed only for a
// single document, found by its full key, in a retryable write. It reports whether the
// document moved to another shard. The order of checks is that of
// db/exec/update_stage.cpp, checkUpdateChangesShardKeyFields.
func (c *Cluster) updateShardKey(tx *transaction, t target, rec foundDocument, after bson.Raw, s updateStatement) (moved bool, err error) {
	before, err := t.routing.KeyOf(rec.doc)
	if err != nil {
		return false, err
	}
	key, err := t.routing.KeyOf(after)
	if err != nil {
		return false, err
	}
	if bytes.Equal(before, key) {
		return false, nil
	}
	switch {
	case s.multi:
		return false, status.Errorf(status.InvalidOptions, "Multi-update operations are not allowed when updating the shard key field.")
	case !t.exact:
		return false, status.Errorf(31025, "Shard key update is not allowed without specifying the full shard key in the query")
	case !s.retry: // the statements of a transaction have a txnNumber too
		return false, status.Errorf(status.IllegalOperation,
			"Must run update to shard key field in a multi-statement transaction or with retryWrites: true.")
	}
	owner := t.routing.Owner(key)
	src := rec.source
	if owner == src.shard {
		return false, nil
	}
	// A real cluster uses a transaction over two shards; here the lock makes it atomic.
	// The insert comes first because only the insert can fail.
	if err := c.checkFree(tx, []foundDocument{rec}); err != nil {
		return false, err
	}
	to, err := c.collectionOn(tx, src.coll.DB, src.coll.Name, owner, t.routing)
	if err != nil {
		return false, err
	}
	if err := c.insertInto(tx, to, after); err != nil {
		return false, err
	}
	return c.deleteFrom(tx, src.coll, rec.id)
}

// upsert inserts the document that the statement describes when none matched.
func (c *Cluster) upsert(tx *transaction, db, coll string, t target, s updateStatement) (bson.Raw, error) {
	doc, err := s.change.Upsert(s.filter)
	if err != nil {
		return nil, err
	}
	if t.routing != nil {
		// The shard that searched for the document inserts it.
		want, _ := keyInFilter(t.routing, s.filter)
		key, err := t.routing.KeyOf(doc)
		if err != nil {
			return nil, err
		}
		if t.exact && t.routing.Owner(want) != t.routing.Owner(key) && !s.retry {
			return nil, status.Errorf(status.IllegalOperation, "The upsert document could not be inserted onto the shard "+
				"targeted by the query, since its shard key belongs on a different shard. Cross-shard upserts are only allowed "+
				"when running in a transaction or with retryWrites: true.")
		}
	}
	return c.inserter(tx, db, coll).insert(doc)
}

// lacksIDAndShardKey reports whether a filter has neither an _id nor the full shard
// key.
func lacksIDAndShardKey(t target, f *query.Filter) bool {
	return t.routing != nil && !t.exact && !idInFilter(f)
}
