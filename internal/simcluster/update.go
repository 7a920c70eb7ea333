package simcluster

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// updateStatement is one entry of updates.
type updateStatement struct {
	q      bson.Raw
	u      bson.RawValue
	filter *query.Filter
	change *query.Update
	multi  bool
	upsert bool
	hint   bson.RawValue
	retry  bool // the command carries a txnNumber
}

// updateResult counts what a statement changed.
type updateResult struct {
	matched, modified int
	upserted          bson.RawValue // _id, missing without an upsert
}

func (c *Cluster) update(ctx context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	var sum updateResult
	var upserts []bson.D
	n, failed, err := c.eachStatement(ctx, r, "updates", func(i int, raw bson.Raw) error {
		done, err := c.updateOne(ctx, r, db, coll, raw)
		if err != nil {
			return err
		}
		sum.matched += done.matched
		sum.modified += done.modified
		if done.upserted.Type != 0 {
			sum.matched++
			upserts = append(upserts, value.D("index", int32(i), "_id", done.upserted))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.stats.updates.Add(int64(n))
	return value.D("nModified", int32(sum.modified), "n", int32(sum.matched), value.When(len(upserts) > 0, "upserted", upserts),
		writeErrors(failed)), nil
}

func (c *Cluster) updateOne(ctx context.Context, r *engine.Request, db, coll string, raw bson.Raw) (updateResult, error) {
	s, err := c.parseUpdate(r, raw)
	if err != nil {
		return updateResult{}, err
	}
	var done updateResult
	err = c.transactions.lockedWrite(ctx, db, coll, func() (err error) {
		defer c.configWritten(db, coll)
		done, err = c.applyUpdate(ctx, db, coll, s)
		return err
	})
	return done, err
}

func (c *Cluster) parseUpdate(r *engine.Request, raw bson.Raw) (s updateStatement, err error) {
	q := value.Field(raw, "q")
	if q.Type != bson.TypeEmbeddedDocument {
		return s, status.Errorf(40414, "BSON field 'update.updates.q' is missing but a required field")
	}
	s.q, s.u = q.Value, value.Field(raw, "u")
	s.multi, s.upsert = truthy(value.Field(raw, "multi")), truthy(value.Field(raw, "upsert"))
	s.hint = value.Field(raw, "hint")
	s.retry = hasKey(r.Body, "txnNumber")
	p := c.arguments(r)
	p.keep(simpleCollation(value.Field(raw, "collation")))
	p.keep(c.compileUpdate(p.env, &s, value.Field(raw, "arrayFilters"), value.Field(raw, "c")))
	return s, p.err
}

// compileUpdate compiles filter and change of an update or a findAndModify.
func (c *Cluster) compileUpdate(env *expr.Env, s *updateStatement, arrayFilters, constants bson.RawValue) (err error) {
	if s.filter, err = query.Parse(s.q, env); err != nil {
		return err
	}
	o := query.UpdateOptions{Env: env, Timestamp: c.catalog.Timestamp(), NewID: func() bson.ObjectID {
		return bson.NewObjectIDFromTimestamp(c.catalog.Now()) // of the cluster's time
	}}
	if constants.Type == bson.TypeEmbeddedDocument {
		with := *env
		with.Vars = make(map[string]bson.RawValue)
		maps.Copy(with.Vars, env.Vars)
		maps.Insert(with.Vars, value.Elements(constants.Value))
		o.Env = &with
	}
	if arrayFilters.Type != 0 {
		return status.Errorf(status.CommandNotSupported, "this simulated cluster knows no arrayFilters")
	}
	if s.change, err = query.ParseUpdate(s.u, o); err != nil {
		return err
	}
	if s.multi && s.change.IsReplacement() {
		return status.Errorf(status.FailedToParse, "multi update is not supported for replacement-style update")
	}
	return nil
}

// applyUpdate runs a statement on the shards it is for. The caller holds
// catalog.Mu for writing.
func (c *Cluster) applyUpdate(ctx context.Context, db, coll string, s updateStatement) (done updateResult, err error) {
	tx := transactionOf(ctx)
	t, err := c.targetUpdate(db, coll, s)
	if err == nil {
		t, err = c.transactions.seenBy(tx, t)
	}
	if err != nil {
		return done, err
	}
	defer c.timed(t, true, time.Now())
	q := engine.Query{Filter: s.filter, Hint: s.hint}
	if !s.multi {
		q.Limit = 1
	}
	found, err := c.claimDocuments(ctx, t, q)
	if err != nil {
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
		cur := src.coll.Query(ctx, q)
		for id, doc := range cur.All() {
			found = append(found, foundDocument{id, doc, src})
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
	if _, err := c.transactions.write(tx, rec.source.coll, rec.id, after); err != nil {
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

// claimDocuments finds what a write changes, which no other transaction may have changed. A document that is found on
// several shards by a write of one document is changed once, unless its _id sends the write to all of them.
func (c *Cluster) claimDocuments(ctx context.Context, t target, q engine.Query) ([]foundDocument, error) {
	found, err := t.findDocuments(ctx, q)
	if err != nil {
		return nil, err
	}
	if q.Limit == 1 && len(found) > 1 && c.writesOneAnywhere() && !idInFilter(q.Filter) {
		found = found[:1]
	}
	return found, c.transactions.checkFree(transactionOf(ctx), found)
}

// replacementKey is the shard key of a replacement document, which must have all
// of its fields for targeting.
func replacementKey(r *catalog.Routing, doc bson.Raw) (bson.Raw, error) {
	for _, f := range r.FieldNames() {
		if _, has := value.Lookup(doc, f); !has {
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
	return shellText(encode(value.D("q", s.q, "u", s.u, "multi", s.multi, "upsert", s.upsert)))
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
	if err := c.transactions.checkFree(tx, []foundDocument{rec}); err != nil {
		return false, err
	}
	to, err := c.collectionOn(tx, src.coll.DB, src.coll.Name, owner, t.routing)
	if err != nil {
		return false, err
	}
	if _, err := c.transactions.write(tx, to, 0, after); err != nil {
		return false, err
	}
	return c.transactions.write(tx, src.coll, rec.id, nil)
}

// upsert inserts the document that the statement describes when none matched.
func (c *Cluster) upsert(tx *transaction, db, coll string, t target, s updateStatement) (bson.Raw, error) {
	doc, err := s.change.Upsert(s.filter)
	if err != nil {
		return nil, err
	}
	if t.routing != nil {
		// The shard that searched for the document inserts it.
		want := t.routing.KeyFromFilter(s.filter)
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
