package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// modifyArgs are the arguments of a findAndModify.
type modifyArgs struct {
	db, coll   string
	statement  updateStatement
	sort       bson.Raw
	projection *query.Projection
	remove     bool
	after      bool // answer the changed document
}

func (c *Cluster) parseModify(r *engine.Request) (a modifyArgs, err error) {
	p := c.arguments(r)
	a.db, a.coll = p.namespace()
	s := &a.statement
	s.q = p.document("query")
	s.u, s.upsert, s.hint = r.Lookup("update"), truthy(r.Lookup("upsert")), r.Lookup("hint")
	s.retry = hasKey(r.Body, "txnNumber")
	a.remove, a.after = truthy(r.Lookup("remove")), truthy(r.Lookup("new"))
	switch {
	case !a.remove && s.u.Type == 0:
		p.keep(status.Errorf(status.FailedToParse, "Either an update or remove=true must be specified"))
	case a.remove && s.u.Type != 0:
		p.keep(status.Errorf(status.FailedToParse, "Cannot specify both an update and remove=true"))
	case a.remove && s.upsert:
		p.keep(status.Errorf(status.FailedToParse, "Cannot specify both upsert=true and remove=true "))
	case a.remove && a.after:
		p.keep(status.Errorf(status.FailedToParse,
			"Cannot specify both new=true and remove=true; 'remove' always returns the deleted document"))
	case a.remove:
		s.filter = p.filter("query")
	default:
		p.keep(c.compileUpdate(p.env, s, r.Lookup("arrayFilters"), bson.RawValue{}))
	}
	a.sort = p.document("sort")
	if sort, err := query.ParseSort(a.sort); sort == nil {
		a.sort = nil
		p.keep(err)
	}
	a.projection = p.projection("fields")
	return a, p.err
}

// findAndModify changes or removes one document and answers it. On a sharded
// collection the query must bind the whole shard key before 7.0; later releases search all
// shards that may have the document and then write to one.
func (c *Cluster) findAndModify(ctx context.Context, r *engine.Request) (bson.D, error) {
	a, err := c.parseModify(r)
	if err != nil {
		return nil, err
	}
	var reply bson.D
	err = c.transactions.lockedWrite(ctx, a.db, a.coll, func() (err error) {
		reply, err = c.modify(ctx, a)
		return err
	})
	return reply, err
}

// modify finds the document and changes it. The caller holds catalog.Mu for writing.
func (c *Cluster) modify(ctx context.Context, a modifyArgs) (bson.D, error) {
	defer c.configWritten(a.db, a.coll)
	tx := transactionOf(ctx)
	t, err := c.transactions.seenBy(tx, c.target(a.db, a.coll, a.statement.filter))
	if err != nil {
		return nil, err
	}
	if t.routing != nil && !t.exact && !c.version.atLeast(7, 0, 0) {
		return nil, status.Errorf(status.ShardKeyNotFound, "Query for sharded findAndModify must contain the shard key")
	}
	defer c.timed(t, true, time.Now())
	found, err := c.claimDocuments(ctx, t, engine.Query{Filter: a.statement.filter, Sort: a.sort, Limit: 1, Hint: a.statement.hint})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		if !a.statement.upsert {
			return a.reply(nil, nil, bson.RawValue{})
		}
		doc, err := c.upsert(tx, a.db, a.coll, t, a.statement)
		if err != nil {
			return nil, err
		}
		return a.reply(nil, doc, value.Field(doc, "_id"))
	}
	first := found[0]
	if a.remove {
		if _, err := c.transactions.write(tx, first.source.coll, first.id, nil); err != nil {
			return nil, err
		}
		return a.reply(first.doc, nil, bson.RawValue{})
	}
	after, _, err := c.changeDocument(tx, t, first, a.statement)
	if err != nil {
		return nil, err
	}
	return a.reply(first.doc, after, bson.RawValue{})
}

// reply has the document of before or after the change; nil stands for none.
func (a modifyArgs) reply(before, after bson.Raw, upserted bson.RawValue) (bson.D, error) {
	var n int32
	if before != nil || upserted.Type != 0 {
		n = 1
	}
	last := value.D("n", n, value.When(!a.remove, "updatedExisting", before != nil),
		value.When(upserted.Type != 0, "upserted", upserted))
	shown := before
	if a.after {
		shown = after
	}
	var result any
	if shown != nil {
		doc, err := a.projection.Apply(shown)
		if err != nil {
			return nil, err
		}
		result = doc
	}
	return value.D("lastErrorObject", last, "value", result), nil
}
