package simcluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
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

func (c *Cluster) update(ctx context.Context, r *engine.Request) (bson.D, error) {
	db, coll, err := namespace(r)
	if err != nil {
		return nil, err
	}
	if err := writable(db, coll); err != nil {
		return nil, err
	}
	list, err := statements(r, "updates")
	if err != nil {
		return nil, err
	}
	ordered := orderedWrites(ctx, r)
	var sum updateResult
	var upserts, failed []bson.D
	for i, raw := range list {
		done, err := c.updateOne(ctx, r, db, coll, raw)
		if err != nil {
			if endsWrite(ctx, err) {
				return nil, err
			}
			if failed = append(failed, c.writeError(i, err)); ordered {
				break
			}
			continue
		}
		sum.matched += done.matched
		sum.modified += done.modified
		if done.upserted.Type != 0 {
			sum.matched++
			upserts = append(upserts, bson.D{{Key: "index", Value: int32(i)}, {Key: "_id", Value: done.upserted}})
		}
	}
	c.stats.updated(len(list))
	reply := bson.D{{Key: "nModified", Value: int32(sum.modified)}, {Key: "n", Value: int32(sum.matched)}}
	if len(upserts) > 0 {
		reply = append(reply, bson.E{Key: "upserted", Value: upserts})
	}
	return withWriteErrors(reply, failed), nil
}

func (c *Cluster) updateOne(ctx context.Context, r *engine.Request, db, coll string, raw bson.Raw) (updateResult, error) {
	s, err := c.parseUpdate(r, raw)
	if err != nil {
		return updateResult{}, err
	}
	var done updateResult
	err = c.lockedWrite(ctx, db, coll, func() (err error) {
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
	if err = simpleCollation(value.Field(raw, "collation")); err != nil {
		return s, err
	}
	return s, c.compileUpdate(r, &s, value.Field(raw, "arrayFilters"), value.Field(raw, "c"))
}

// compileUpdate compiles filter and change of an update or a findAndModify.
func (c *Cluster) compileUpdate(r *engine.Request, s *updateStatement, arrayFilters, constants bson.RawValue) error {
	env, err := c.environment(r)
	if err != nil {
		return err
	}
	if s.filter, err = parseFilter(s.q, env); err != nil {
		return err
	}
	o := query.UpdateOptions{Env: env, Timestamp: c.catalog.Timestamp(), NewID: c.newID}
	if constants.Type == bson.TypeEmbeddedDocument {
		with := *env
		with.Vars = make(map[string]bson.RawValue)
		for k, v := range env.Vars {
			with.Vars[k] = v
		}
		for e := value.Read(constants.Value); e.Next(); {
			with.Vars[string(e.Key)] = e.Value
		}
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

// newID generates the _id of an upserted document, with the cluster's time.
func (c *Cluster) newID() bson.ObjectID {
	return bson.NewObjectIDFromTimestamp(c.catalog.Now())
}
