// Package records is what all stores do in the same way, said once over rows of tables. A store embeds Records and
// implements DB with its database. Only where the audit record ends and what followers ask of the leader are in stores.
package records

import (
	"context"
	"errors"
	"slices"
	"time"

	"shardboard/internal/store"
)

// Reader reads rows, within a transaction or outside of one.
type Reader interface {
	// Find calls f for the rows of a query until it returns false. f must not use the database.
	Find(ctx context.Context, q Query, f func(store.Row) bool) error
}

// Tx is a transaction.
type Tx interface {
	Reader
	// Insert adds rows, which fails if there is one with such a key or another unique value.
	Insert(ctx context.Context, t store.Table, rows ...store.Row) error
	// Put adds rows or replaces those with their keys.
	Put(ctx context.Context, t store.Table, rows ...store.Row) error
	// Count adds rows, or adds their column n to the rows with their keys.
	Count(ctx context.Context, t store.Table, rows ...store.Row) error
	// Update sets columns and returns how many rows it found.
	Update(ctx context.Context, t store.Table, where Where, set Where) (int64, error)
	// Delete deletes the rows of each condition and returns how many; 0 for a table with a column Body.
	Delete(ctx context.Context, t store.Table, where ...Where) (int64, error)
	// DropRequests deletes what followers asked the leader for, where there are followers.
	DropRequests(ctx context.Context) error
	// Number takes the next n numbers of a table's column, which only increase, and returns the first.
	Number(ctx context.Context, t store.Table, column string, n int) (int64, error)
	// Append adds an entry to the audit record.
	Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error)
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
	// Trim deletes the rows of each condition, as the leader, in as many transactions as it takes.
	Trim(ctx context.Context, t store.Table, where ...Where) error
}

// ErrNone means that there is no such row.
var ErrNone = errors.New("no such row")

// Query asks for rows of a table. It reads only the columns that the table has here.
type Query struct {
	Table store.Table
	Where Where
	Order []string // columns; "-at" is descending
	Skip  int
	Limit int // 0: all
	// Strict fails for a row that cannot be read. Otherwise it is left out, counted and logged.
	Strict bool
	// NotIn leaves out the rows whose key is in a column of another table; nil: none.
	NotIn *Reference
	// Rare is a column of a condition that few rows fulfil, where a store has to be told so to read by its index.
	Rare string
}

// Reference is a column that has keys of another table.
type Reference struct {
	Table  store.Table
	Column string
}

// Condition is one of a column: its operator is =, <, <=, > or >=, "in" for one of several texts, or "set" for a flag.
type Condition struct {
	Column  string
	Type    store.ColumnType
	Op      string
	Value   any  // as a Row has it; []string for "in"
	OrUnset bool // rows without a value, which have not ended, fulfil it too: of > and >=
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
	read []store.Column // what its records have
	// fields are pointers to what each column has, in their order; cluster is for tables whose records do not have it.
	fields func(cluster *string, r *T) []any
}

// tableOf returns a table by its name. Records have all of its columns, or only those that are named.
func tableOf[T any](name string, fields func(cluster *string, r *T) []any, only ...string) table[T] {
	for _, t := range store.Tables() {
		if t.Name == name {
			return table[T]{t, columnsOf(t, only...), fields}
		}
	}
	panic("there is no table " + name)
}

// columnsOf returns the columns that are named; all if none is.
func columnsOf(t store.Table, names ...string) []store.Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c store.Column) bool {
		return len(names) > 0 && !slices.Contains(names, c.Name)
	})
}

// rows are records as they are stored.
func (t table[T]) rows(cluster string, records []T) (rows []store.Row) {
	for _, r := range records {
		rows = append(rows, t.row(cluster, r))
	}
	return rows
}

// row is a record as it is stored.
func (t table[T]) row(cluster string, r T) store.Row {
	row := make(store.Row, 0, len(t.read))
	for i, at := range t.fields(&cluster, &r) {
		row = append(row, encode(t.read[i].Type, at))
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
			return append(w, Condition{Column: column, Type: c.Type, Op: op, Value: encode(c.Type, value)})
		}
	}
	panic("the table " + t.Name + " has no column " + column)
}

// during is w with a time of [from, to). A zero time is no bound.
func (t table[T]) during(w Where, column string, from, to time.Time) Where {
	if !from.IsZero() {
		w = t.and(w, column, ">=", from)
	}
	if !to.IsZero() {
		w = t.and(w, column, "<", to)
	}
	return w
}

// all asks for records of a condition.
func (t table[T]) all(where Where, order ...string) Query {
	q := Query{Table: t.Table, Where: where, Order: order}
	q.Table.Columns = t.read
	return q
}

// find returns the records of a query.
func find[T any](ctx context.Context, from Reader, t table[T], q Query) (out []T, err error) {
	err = from.Find(ctx, q, func(row store.Row) bool { out = append(out, t.record(row)); return true })
	return out, err
}

// list returns the records of a condition.
func list[T any](ctx context.Context, from Reader, t table[T], where Where, limit int, order ...string) (out []T, err error) {
	q := t.all(where, order...)
	q.Limit = limit
	return find(ctx, from, t, q)
}

// one returns the first record of a condition; ErrNone. It fails for one that cannot be read.
func one[T any](ctx context.Context, from Reader, t table[T], where Where, order ...string) (r T, err error) {
	q := t.all(where, order...)
	q.Limit, q.Strict = 1, true
	found, err := find(ctx, from, t, q)
	if err == nil && len(found) == 0 {
		err = ErrNone
	}
	if err != nil {
		return r, err
	}
	return found[0], nil
}

// exists reports whether there is a record.
func exists[T any](ctx context.Context, from Reader, t table[T], where Where) (exists bool, err error) {
	q := Query{Table: t.Table, Where: where, Limit: 1, Strict: true}
	q.Table.Columns = columnsOf(t.Table, t.Key[0])
	err = from.Find(ctx, q, func(store.Row) bool { exists = true; return true })
	return exists, err
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
	case *time.Duration:
		return v.Milliseconds()
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
	case *time.Duration:
		*to = time.Duration(number) * time.Millisecond
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
