package mongodb

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
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

// Audited takes the place of the entry first, because that is where replicas meet.
func (t tables) Audited(ctx context.Context, e store.AuditEntry, f func(context.Context, records.Tx) error) error {
	return t.Change(ctx, func(ctx context.Context, tx records.Tx) error {
		if _, err := tx.Append(ctx, e); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}

func (t tables) Trim(ctx context.Context, of store.Table, where ...records.Where) error {
	for _, w := range where {
		if err := t.db.trim(ctx, of.Name, filterOf(of, w)); err != nil {
			return err
		}
	}
	return nil
}

// operators are those of conditions.
var operators = map[string]string{"<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte", "in": "$in"}

// filterOf is a filter of documents. An operator such as $lt does not match the null of a column without a value.
func filterOf(t store.Table, where records.Where) bson.D {
	filter := bson.D{}
	for _, c := range where {
		field, value := fieldOf(t.Name, c.Column), valueOf(c.Type, c.Value)
		operator, compares := operators[c.Op]
		last := len(filter) - 1
		switch {
		case c.OrUnset:
			filter = append(filter, bson.E{Key: "$or", Value: bson.A{eq(field, nil), eq(field, eq(operator, value))}})
		case compares && last >= 0 && filter[last].Key == field: // the other end of a range
			filter[last].Value = append(filter[last].Value.(bson.D), bson.E{Key: operator, Value: value})
		case compares:
			filter = append(filter, bson.E{Key: field, Value: eq(operator, value)})
		default:
			filter = append(filter, bson.E{Key: field, Value: value})
		}
	}
	return filter
}

// valueOf is the value of a column of a row as a document has it.
func valueOf(kind store.ColumnType, value any) any {
	n, number := value.(int64)
	switch {
	case number && (kind == store.Time || kind == store.Ended):
		return bson.DateTime(n)
	case number && kind == store.Flag:
		return n != 0
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

// projectionOf are the fields of the columns of a table, and no others.
func projectionOf(t store.Table) bson.D {
	fields := eq("_id", 0)
	for _, c := range t.Columns {
		field := fieldOf(t.Name, c.Name)
		if field == "_id" {
			fields = fields[1:]
		}
		if fields = append(fields, bson.E{Key: field, Value: 1}); c.Type == store.Body {
			fields = append(fields, bson.E{Key: "body_parts", Value: 1})
		}
	}
	return fields
}

// cursor begins a query. Rows of another table are joined in the server.
func (db *DB) cursor(ctx context.Context, q records.Query) (*mongo.Cursor, error) {
	filter, fields := filterOf(q.Table, q.Where), projectionOf(q.Table)
	if q.NotIn == nil {
		return db.collection(q.Table.Name).Find(ctx, filter,
			options.Find().SetSort(sortOf(q)).SetSkip(int64(q.Skip)).SetLimit(int64(q.Limit)).SetProjection(fields).SetAllowDiskUse(true))
	}
	const found = "found"
	return db.collection(q.Table.Name).Aggregate(ctx, mongo.Pipeline{
		eq("$match", filter),
		eq("$sort", sortOf(q)),
		eq("$project", fields),
		eq("$lookup", eq("from", q.NotIn.Table.Name, "localField", fieldOf(q.Table.Name, q.Table.Key[0]), "foreignField", q.NotIn.Column,
			"as", found)),
		eq("$match", eq(found, bson.A{})),
		eq("$limit", int64(q.Limit)),
	})
}

// rowTo calls f with a document as a row. A document that cannot be read is left out, unless the query is strict.
func (db *DB) rowTo(ctx context.Context, q records.Query, d bson.Raw, f func(store.Row) bool) (goOn bool, err error) {
	row, err := db.rowOf(ctx, q.Table, d)
	switch {
	case err == nil:
		return f(row), nil
	case q.Strict || !errors.Is(err, errBadField):
		return false, err
	}
	db.leaveOut(q.Table.Name, d, err)
	return true, nil
}

func (t tables) Find(ctx context.Context, q records.Query, f func(store.Row) bool) (err error) {
	var failed error
	err = t.db.each(ctx, func(ctx context.Context) (*mongo.Cursor, error) { return t.db.cursor(ctx, q) }, func(d bson.Raw) (goOn bool) {
		goOn, failed = t.db.rowTo(ctx, q, d, f)
		return goOn
	})
	return cmp.Or(failed, err)
}

func (t transaction) Find(ctx context.Context, q records.Query, f func(store.Row) bool) error {
	cur, err := t.db.cursor(ctx, q)
	if err != nil {
		return err
	}
	defer cur.Close(context.WithoutCancel(ctx)) //nolint:errcheck // only the server's cursor is left
	for cur.Next(ctx) {
		if goOn, err := t.db.rowTo(ctx, q, cur.Current, f); err != nil || !goOn {
			return err
		}
	}
	return cur.Err()
}

// parted reports whether rows of a table may have parts in other documents.
func parted(t store.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c store.Column) bool { return c.Type == store.Body })
}

// keyOf is a filter of the document with the key of a row.
func keyOf(t store.Table, row store.Row) (key bson.D) {
	for i, c := range t.Columns {
		if slices.Contains(t.Key, c.Name) {
			key = append(key, bson.E{Key: fieldOf(t.Name, c.Name), Value: valueOf(c.Type, row[i])})
		}
	}
	return key
}

func (t transaction) Insert(ctx context.Context, into store.Table, rows ...store.Row) error {
	docs, err := t.db.documentsOf(ctx, into, rows)
	if err != nil || len(docs) == 0 {
		return err
	}
	_, err = t.db.collection(into.Name).InsertMany(ctx, docs)
	return err
}

func (t transaction) Put(ctx context.Context, into store.Table, rows ...store.Row) error {
	if parted(into) {
		for _, row := range rows {
			if err := t.db.deleteWithParts(ctx, into.Name, keyOf(into, row)); err != nil {
				return err
			}
		}
		return t.Insert(ctx, into, rows...)
	}
	docs, err := t.db.documentsOf(ctx, into, rows)
	if err != nil {
		return err
	}
	var changes []mongo.WriteModel
	for i, row := range rows {
		changes = append(changes, mongo.NewReplaceOneModel().SetFilter(keyOf(into, row)).SetReplacement(docs[i]).SetUpsert(true))
	}
	return t.write(ctx, into, changes)
}

func (t transaction) Count(ctx context.Context, into store.Table, rows ...store.Row) error {
	var changes []mongo.WriteModel
	for _, row := range rows {
		n := row[len(row)-1]
		changes = append(changes, mongo.NewUpdateOneModel().SetFilter(keyOf(into, row)).SetUpdate(eq("$inc", eq("n", n))).SetUpsert(true))
	}
	return t.write(ctx, into, changes)
}

// write applies changes in order; the driver divides them into messages.
func (t transaction) write(ctx context.Context, to store.Table, changes []mongo.WriteModel) error {
	if len(changes) == 0 {
		return nil
	}
	_, err := t.db.collection(to.Name).BulkWrite(ctx, changes)
	return err
}

func (t transaction) Update(ctx context.Context, of store.Table, where, to records.Where) (int64, error) {
	done, err := t.db.collection(of.Name).UpdateMany(ctx, filterOf(of, where), eq("$set", filterOf(of, to)))
	if err != nil {
		return 0, err
	}
	return done.MatchedCount, nil
}

func (t transaction) Delete(ctx context.Context, of store.Table, where ...records.Where) (int64, error) {
	if len(where) == 0 {
		return 0, nil
	}
	filter := filterOf(of, where[0])
	if len(where) > 1 {
		any := bson.A{}
		for _, w := range where {
			any = append(any, filterOf(of, w))
		}
		filter = eq("$or", any)
	}
	if parted(of) {
		return 0, t.db.deleteWithParts(ctx, of.Name, filter)
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

func (t transaction) Number(ctx context.Context, of store.Table, _ string, n int) (int64, error) {
	return t.db.number(ctx, of.Name, n)
}

// Append adds an entry to the audit record within the transaction, so that a change and its entry are stored together.
func (t transaction) Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error) {
	end, err := t.db.nextRecord(ctx)
	if err != nil {
		return store.AuditRecord{}, err
	}
	r, err := records.AddAuditRecord(ctx, t, e, end)
	if mongo.IsDuplicateKeyError(err) {
		t.db.written.skip = true
		err = errTaken{err}
	}
	if err == nil {
		_, err = t.db.collection(counters).UpdateOne(ctx, eq("_id", auditEnd), set("n", r.Seq, "hash", r.Hash))
	}
	if err == nil {
		t.db.written.pending = &audit.Point{Seq: r.Seq, Hash: r.Hash}
	}
	return r, err
}

var _ records.DB = tables{}
