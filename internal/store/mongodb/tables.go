package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
	"shardboard/internal/store/records"
)

// tables is the database for package records.
type tables struct{ db *DB }

// transaction is a change of rows of tables; its context has the session.
type transaction struct{ db *DB }

func (t tables) Change(ctx context.Context, f func(context.Context, records.Tx) error) error {
	return t.db.change(ctx, func(ctx context.Context) error { return f(ctx, transaction(t)) })
}

func (t tables) Lead(ctx context.Context, bodies int, f func(context.Context, records.Tx) error) error {
	return t.db.leadWithin(ctx, t.db.timeFor(bodies), func(ctx context.Context) error { return f(ctx, transaction(t)) })
}

func (t tables) Audited(ctx context.Context, e store.AuditEntry, f func(context.Context, records.Tx) error) error {
	return t.db.changeAudited(ctx, e, func(ctx context.Context) error { return f(ctx, transaction(t)) })
}

func (t tables) Trim(ctx context.Context, of store.Table, where records.Where) error {
	return t.db.trim(ctx, of.Name, filterOf(of, where))
}

// filterOf is a filter of documents. An operator such as $lt does not match the null of a column without a value.
func filterOf(t store.Table, where records.Where) bson.D {
	filter := bson.D{}
	for _, c := range where {
		field, value := fieldOf(t.Name, c.Column), any(valueOf(t, c.Column, c.Value))
		if operator := map[string]string{"<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}[c.Op]; operator != "" {
			value = eq(operator, value)
		}
		if c.OrUnset {
			filter = append(filter, bson.E{Key: "$or", Value: bson.A{eq(field, nil), eq(field, value)}})
		} else {
			filter = append(filter, bson.E{Key: field, Value: value})
		}
	}
	return filter
}

// valueOf is the value of a column of a row as a document has it.
func valueOf(t store.Table, column string, value any) any {
	n, number := value.(int64)
	for _, c := range t.Columns {
		switch {
		case c.Name != column || !number:
		case c.Type == store.Time, c.Type == store.Ended:
			return bson.DateTime(n)
		case c.Type == store.Flag:
			return n != 0
		}
	}
	return value
}

func sortOf(q records.Query) bson.D {
	order := bson.D{}
	for _, column := range q.Order {
		if column[0] == '-' {
			order = append(order, bson.E{Key: fieldOf(q.Table.Name, column[1:]), Value: -1})
		} else {
			order = append(order, bson.E{Key: fieldOf(q.Table.Name, column), Value: 1})
		}
	}
	return order
}

func (t tables) Find(ctx context.Context, q records.Query, f func(store.Row)) (err error) {
	var failed error
	err = each(ctx, t.db, q.Table.Name, filterOf(q.Table, q.Where), func(d bson.Raw) bool {
		row, err := rowReader{t.db, true}.rowOf(ctx, q.Table, d)
		switch {
		case err == nil:
			f(row)
		case errors.Is(err, errBadField):
			t.db.rows.leaveOut(t.db, q.Table.Name, d, err)
		default:
			failed = err
		}
		return failed == nil
	}, options.Find().SetSort(sortOf(q)).SetLimit(int64(q.Limit)))
	return errors.Join(err, failed)
}

func (t tables) One(ctx context.Context, q records.Query) (store.Row, error) {
	d, err := one[bson.Raw](ctx, t.db, q.Table.Name, filterOf(q.Table, q.Where), options.FindOne().SetSort(sortOf(q)))
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, records.ErrNone
	}
	if err != nil {
		return nil, err
	}
	return rowReader{t.db, true}.rowOf(ctx, q.Table, d)
}

func (t tables) Exists(ctx context.Context, of store.Table, where records.Where) (bool, error) {
	_, err := one[bson.Raw](ctx, t.db, of.Name, filterOf(of, where), options.FindOne().SetProjection(eq("_id", 1)))
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return err == nil, err
}

func (t transaction) Find(ctx context.Context, q records.Query, f func(store.Row)) error {
	cur, err := t.db.collection(q.Table.Name).Find(ctx, filterOf(q.Table, q.Where),
		options.Find().SetSort(sortOf(q)).SetLimit(int64(q.Limit)))
	if err != nil {
		return err
	}
	defer cur.Close(context.WithoutCancel(ctx)) //nolint:errcheck // only the server's cursor is left
	for cur.Next(ctx) {
		row, err := rowReader{t.db, true}.rowOf(ctx, q.Table, cur.Current)
		switch {
		case err == nil:
			f(row)
		case errors.Is(err, errBadField):
			t.db.rows.leaveOut(t.db, q.Table.Name, cur.Current, err)
		default:
			return err
		}
	}
	return cur.Err()
}

func (t transaction) One(ctx context.Context, q records.Query) (store.Row, error) {
	d, err := t.db.collection(q.Table.Name).FindOne(ctx, filterOf(q.Table, q.Where), options.FindOne().SetSort(sortOf(q))).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, records.ErrNone
	}
	if err != nil {
		return nil, err
	}
	return rowReader{t.db, true}.rowOf(ctx, q.Table, d)
}

func (t transaction) Exists(ctx context.Context, of store.Table, where records.Where) (bool, error) {
	return t.db.exists(ctx, of.Name, filterOf(of, where))
}

func (t transaction) Insert(ctx context.Context, into store.Table, row store.Row) error {
	d, err := t.db.documentOf(ctx, into, row)
	if err != nil {
		return err
	}
	_, err = t.db.collection(into.Name).InsertOne(ctx, d)
	return err
}

func (t transaction) Put(ctx context.Context, into store.Table, row store.Row) error {
	key, parted := bson.D{}, false
	for i, c := range into.Columns {
		for _, k := range into.Key {
			if c.Name == k {
				key = append(key, bson.E{Key: fieldOf(into.Name, k), Value: valueOf(into, k, row[i])})
			}
		}
		parted = parted || c.Type == store.Body
	}
	if parted {
		if err := t.db.deleteWithParts(ctx, into.Name, key); err != nil {
			return err
		}
		return t.Insert(ctx, into, row)
	}
	d, err := t.db.documentOf(ctx, into, row)
	if err != nil {
		return err
	}
	return t.db.upsert(ctx, into.Name, key, d)
}

func (t transaction) Update(ctx context.Context, of store.Table, where, to records.Where) (int64, error) {
	done, err := t.db.collection(of.Name).UpdateMany(ctx, filterOf(of, where), bson.D{{Key: "$set", Value: filterOf(of, to)}})
	if err != nil {
		return 0, err
	}
	return done.MatchedCount, nil
}

func (t transaction) Delete(ctx context.Context, of store.Table, where records.Where) (int64, error) {
	filter := filterOf(of, where)
	for _, c := range of.Columns {
		if c.Type == store.Body {
			return 0, t.db.deleteWithParts(ctx, of.Name, filter)
		}
	}
	done, err := t.db.collection(of.Name).DeleteMany(ctx, filter)
	if err != nil {
		return 0, err
	}
	return done.DeletedCount, nil
}

func (t transaction) DropRequests(ctx context.Context) error {
	_, err := t.db.collection(requests).DeleteMany(ctx, bson.D{})
	return err
}

func (t transaction) Number(ctx context.Context, table string) (int64, error) {
	return t.db.number(ctx, table, 1)
}

func (t transaction) Append(ctx context.Context, entries ...store.AuditEntry) error {
	return t.db.appendAll(ctx, entries)
}

var _ records.DB = tables{}
