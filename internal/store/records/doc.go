// Package records is what all stores do in the same way, said once over rows of tables: accounts, sessions, API
// keys, settings, approvals, problems and notices. A store embeds Records and implements DB with its database. What
// depends on how a database keeps rows (the audit record, history, heat maps, plans, runs) stays in the store.
package records

import (
	"context"
	"errors"
	"time"

	"shardboard/internal/store"
)

// Reader reads rows, within a transaction or outside of one.
type Reader interface {
	// Find calls f for the rows of a query, without those that cannot be read, which it counts and logs.
	Find(ctx context.Context, q Query, f func(store.Row)) error
	// One returns the first row of a query; ErrNone. It fails for a row that cannot be read.
	One(ctx context.Context, q Query) (store.Row, error)
	// Exists reports whether there is a row, readable or not.
	Exists(ctx context.Context, t store.Table, where Where) (bool, error)
}

// Tx is a transaction.
type Tx interface {
	Reader
	// Insert adds a row, which fails if there is one with its key or another unique value.
	Insert(ctx context.Context, t store.Table, row store.Row) error
	// Put adds a row or replaces the one with its key.
	Put(ctx context.Context, t store.Table, row store.Row) error
	// Update sets columns and returns how many rows it found.
	Update(ctx context.Context, t store.Table, where Where, set Where) (int64, error)
	// Delete returns how many rows it deleted.
	Delete(ctx context.Context, t store.Table, where Where) (int64, error)
	// DropRequests deletes what followers asked the leader for, where there are followers.
	DropRequests(ctx context.Context) error
	// Number returns the next number of the rows of a table, which only increases.
	Number(ctx context.Context, table string) (int64, error)
	// Append adds entries to the audit record.
	Append(ctx context.Context, entries ...store.AuditEntry) error
}

// DB is a database of tables. Outside of its transactions it only reads.
type DB interface {
	Reader
	// Change runs f in a transaction, which stores all of it or nothing. f may run several times.
	Change(ctx context.Context, f func(context.Context, Tx) error) error
	// Lead is Change for what only the leader may do; bodies is how many bytes of them f stores.
	Lead(ctx context.Context, bodies int, f func(context.Context, Tx) error) error
	// Audited is Change with an audit entry.
	Audited(ctx context.Context, e store.AuditEntry, f func(context.Context, Tx) error) error
	// Trim deletes rows, as the leader, in as many transactions as it takes.
	Trim(ctx context.Context, t store.Table, where Where) error
}

// ErrNone means that there is no such row.
var ErrNone = errors.New("no such row")

// Query asks for rows of a table.
type Query struct {
	Table store.Table
	Where Where
	Order []string // columns; "-at" is descending
	Limit int      // 0: all
}

// Condition is one of a column: its operator is =, <, <=, > or >=.
type Condition struct {
	Column, Op string
	Value      any  // as a Row has it
	OrUnset    bool // rows without a value, which have not ended, fulfil it too: of > and >=
}

// Where is what all fulfil that are meant; nil: all rows.
type Where []Condition

// Records implements parts of store.Store over a database.
type Records struct{ db DB }

// On returns the records in a database.
func On(db DB) Records { return Records{db} }

// table is a table whose rows are records of a type, most of them of one cluster.
type table[T any] struct {
	store.Table
	// fields are pointers to what each column has, in their order; cluster is for tables whose records do not have it.
	fields func(cluster *string, r *T) []any
}

func tableOf[T any](name string, fields func(cluster *string, r *T) []any) table[T] {
	for _, t := range store.Tables() {
		if t.Name == name {
			return table[T]{t, fields}
		}
	}
	panic("there is no table " + name)
}

// row is a record as it is stored.
func (t table[T]) row(cluster string, r T) store.Row {
	row := make(store.Row, 0, len(t.Columns))
	for i, at := range t.fields(&cluster, &r) {
		row = append(row, encode(t.Columns[i].Type, at))
	}
	return row
}

func (t table[T]) record(row store.Row) (r T) {
	var cluster string
	for i, at := range t.fields(&cluster, &r) {
		decode(row[i], at)
	}
	return r
}

// is is a condition that columns have values: is("cluster", c, "id", id).
func (t table[T]) is(pairs ...any) Where {
	var w Where
	for i := 0; i < len(pairs); i += 2 {
		w = t.and(w, pairs[i].(string), "=", pairs[i+1])
	}
	return w
}

func (t table[T]) and(w Where, column, op string, value any) Where {
	for _, c := range t.Columns {
		if c.Name == column {
			return append(w, Condition{Column: column, Op: op, Value: encode(c.Type, value)})
		}
	}
	panic("the table " + t.Name + " has no column " + column)
}

// list returns the records of a condition.
func list[T any](ctx context.Context, from Reader, t table[T], where Where, limit int, order ...string) (out []T, err error) {
	err = from.Find(ctx, Query{t.Table, where, order, limit}, func(row store.Row) { out = append(out, t.record(row)) })
	return out, err
}

// one returns the record of a condition; ErrNone.
func one[T any](ctx context.Context, from Reader, t table[T], where Where, order ...string) (r T, err error) {
	row, err := from.One(ctx, Query{Table: t.Table, Where: where, Order: order})
	if err != nil {
		return r, err
	}
	return t.record(row), nil
}

// encode converts a value, or what a pointer leads to, to what a Row has.
func encode(kind store.ColumnType, v any) any {
	switch v := v.(type) {
	case *string:
		return *v
	case *int:
		return int64(*v)
	case *int64:
		return *v
	case *bool:
		return encode(kind, *v)
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case *time.Time:
		return encode(kind, *v)
	case time.Time:
		switch {
		case !v.IsZero():
			return v.UnixMilli()
		case kind == store.Ended:
			return nil
		}
		return int64(0)
	case *[]byte:
		return encode(kind, *v)
	case []byte:
		switch {
		case v != nil:
			return v
		case kind == store.Unset:
			return nil
		}
		return []byte{}
	case *[]string:
		return store.TextOf(*v)
	case *map[string]string:
		return store.TextOf(*v)
	}
	return v
}

// decode sets what a pointer leads to.
func decode(value, to any) {
	number, _ := value.(int64)
	text, _ := value.(string)
	switch to := to.(type) {
	case *string:
		*to = text
	case *int:
		*to = int(number)
	case *int64:
		*to = number
	case *bool:
		*to = number != 0
	case *time.Time:
		if *to = (time.Time{}); number != 0 {
			*to = instant(number)
		}
	case *[]byte:
		*to, _ = value.([]byte)
	case *[]string:
		*to = store.ListOf(text)
	case *map[string]string:
		*to = store.ClustersOf(text)
	}
}

// instant is a stored time. A time outside the years that texts allow (0001 to 9999) was not written by shardboard;
// it becomes the nearest allowed time, so that lists do not fail on it.
func instant(ms int64) time.Time {
	const least, most = -62_135_596_800_000, 253_402_300_799_999
	return time.UnixMilli(min(max(ms, least), most)).UTC()
}
