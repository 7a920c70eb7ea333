package simcluster

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *Cluster) delete(ctx context.Context, r *engine.Request, db, coll string) (bson.D, error) {
	gone := 0
	n, failed, err := c.eachStatement(ctx, r, "deletes", func(_ int, raw bson.Raw) error {
		done, err := c.deleteOne(ctx, r, db, coll, raw)
		gone += done
		return err
	})
	if err != nil {
		return nil, err
	}
	c.stats.deletes.Add(int64(n))
	return value.D("n", int32(gone), writeErrors(failed)), nil
}

// eachStatement runs the statements of an update or a delete. It returns their number and the errors of those that
// failed; of ordered statements none runs after the first error.
func (c *Cluster) eachStatement(ctx context.Context, r *engine.Request, name string, run func(i int, raw bson.Raw) error) (n int,
	failed []bson.D, err error) {
	list, err := statements(r, name)
	for i, raw := range list {
		err := run(i, raw)
		if err == nil {
			continue
		}
		if endsWrite(ctx, err) {
			return 0, nil, err
		}
		if failed = append(failed, c.writeError(i, err)); orderedWrites(ctx, r) {
			break
		}
	}
	return len(list), failed, err
}

// deleteOne runs one entry of deletes and counts what it removed.
func (c *Cluster) deleteOne(ctx context.Context, r *engine.Request, db, coll string, raw bson.Raw) (int, error) {
	q := value.Field(raw, "q")
	if q.Type != bson.TypeEmbeddedDocument {
		return 0, status.Errorf(40414, "BSON field 'delete.deletes.q' is missing but a required field")
	}
	limit, ok := wholeNumber(value.Field(raw, "limit"))
	if !ok || limit != 0 && limit != 1 {
		return 0, status.Errorf(status.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %d", limit)
	}
	p := c.arguments(r)
	p.keep(simpleCollation(value.Field(raw, "collation")))
	filter, err := query.Parse(q.Value, p.env)
	if p.keep(err); p.err != nil {
		return 0, p.err
	}
	n := 0
	err = c.transactions.lockedWrite(ctx, db, coll, func() (err error) {
		n, err = c.deleteMatching(ctx, db, coll, raw, engine.Query{Filter: filter, Limit: limit, Hint: value.Field(raw, "hint")})
		return err
	})
	return n, err
}

// deleteMatching removes the documents of a query. The caller holds catalog.Mu for
// writing.
func (c *Cluster) deleteMatching(ctx context.Context, db, coll string, raw bson.Raw, q engine.Query) (n int, err error) {
	defer c.configWritten(db, coll)
	tx := transactionOf(ctx)
	t, err := c.transactions.seenBy(tx, c.target(db, coll, q.Filter))
	if err != nil {
		return 0, err
	}
	if q.Limit == 1 && t.routing != nil && !t.exact && !idInFilter(q.Filter) && !c.writesOneAnywhere() {
		return 0, status.Errorf(status.ShardKeyNotFound, "A single delete on a sharded collection must contain an exact "+
			"match on _id (and have the collection default collation) or contain the shard key (and have the simple "+
			"collation). Delete request: %s, shard key pattern: %s",
			shellText(encode(value.D("q", value.Field(raw, "q"), "limit", int32(1)))), shellText(t.routing.Key))
	}
	defer c.timed(t, true, time.Now())
	found, err := c.claimDocuments(ctx, t, q)
	if err != nil {
		return 0, err
	}
	for _, rec := range found {
		gone, err := c.transactions.write(tx, rec.source.coll, rec.id, nil)
		if err != nil {
			return n, err
		}
		if gone {
			n++
		}
	}
	return n, nil
}

// writeError is one entry of writeErrors; those of 8.0 have no names of codes.
func (c *Cluster) writeError(index int, err error) bson.D {
	e := status.Of(interrupted(err))
	return value.D("index", int32(index), "code", e.Code, value.When(!c.version.atLeast(8, 0, 0), "codeName", e.Name),
		"errmsg", e.Message, e.Extra)
}

func writeErrors(failed []bson.D) bson.D { return value.When(len(failed) > 0, "writeErrors", failed) }

// orderedWrites reads the ordered argument of a write, which is true by default. In a
// transaction the first error ends every write.
func orderedWrites(ctx context.Context, r *engine.Request) bool {
	v := r.Lookup("ordered")
	return v.Type == 0 || truthy(v) || transactionOf(ctx) != nil
}

// endsWrite reports whether an error ends the command instead of being one of its write
// errors: the write has to wait, it was interrupted, or its transaction can be tried
// again.
func endsWrite(ctx context.Context, err error) bool {
	var locked *lockedError
	var e *status.Error
	return errors.As(err, &locked) || ctx.Err() != nil && errors.Is(err, ctx.Err()) ||
		errors.As(err, &e) && e.Code == status.ClientDisconnect || transactionOf(ctx) != nil && transient(err)
}
