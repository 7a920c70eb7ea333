package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *Cluster) delete(ctx context.Context, r *engine.Request) (bson.D, error) {
	db, coll, err := namespace(r)
	if err != nil {
		return nil, err
	}
	if err := writable(db, coll); err != nil {
		return nil, err
	}
	list, err := statements(r, "deletes")
	if err != nil {
		return nil, err
	}
	ordered := orderedWrites(ctx, r)
	n, failed := 0, []bson.D(nil)
	for i, raw := range list {
		done, err := c.deleteOne(ctx, r, db, coll, raw)
		n += done
		if err != nil {
			if endsWrite(ctx, err) {
				return nil, err
			}
			if failed = append(failed, c.writeError(i, err)); ordered {
				break
			}
		}
	}
	c.stats.deleted(len(list))
	return withWriteErrors(bson.D{{Key: "n", Value: int32(n)}}, failed), nil
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
	if err := simpleCollation(value.Field(raw, "collation")); err != nil {
		return 0, err
	}
	env, err := c.environment(r)
	if err != nil {
		return 0, err
	}
	filter, err := parseFilter(q.Value, env)
	if err != nil {
		return 0, err
	}
	n := 0
	err = c.lockedWrite(ctx, db, coll, func() (err error) {
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
	t, err := c.seenBy(tx, c.target(db, coll, q.Filter))
	if err != nil {
		return 0, err
	}
	if q.Limit == 1 && lacksIDAndShardKey(t, q.Filter) && !c.writesOneAnywhere() {
		return 0, status.Errorf(status.ShardKeyNotFound, "A single delete on a sharded collection must contain an exact "+
			"match on _id (and have the collection default collation) or contain the shard key (and have the simple "+
			"collation). Delete request: %s, shard key pattern: %s",
			shellText(encode(bson.D{{Key: "q", Value: value.Field(raw, "q")}, {Key: "limit", Value: int32(1)}})), shellText(t.routing.Key))
	}
	defer c.timed(t, true, time.Now())
	found, err := t.findDocuments(ctx, q)
	if err != nil {
		return 0, err
	}
	found = c.first(found, q.Limit == 1, q.Filter)
	if err := c.checkFree(tx, found); err != nil {
		return 0, err
	}
	for _, rec := range found {
		gone, err := c.deleteFrom(tx, rec.source.coll, rec.id)
		if err != nil {
			return n, err
		}
		if gone {
			n++
		}
	}
	return n, nil
}
