package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"shardboard/internal/store"
	"shardboard/internal/store/records"
)

// reader reads rows of tables.
type reader struct {
	db   *DB
	from queryer
}

// tables is the database for package records.
type tables struct{ reader }

// transaction is a change of rows of tables.
type transaction struct {
	reader
	tx *sql.Tx
}

func (t tables) Change(ctx context.Context, f func(context.Context, records.Tx) error) error {
	return t.db.change(ctx, func(tx *sql.Tx) error { return f(ctx, transaction{reader{t.db, tx}, tx}) })
}

func (t tables) Lead(ctx context.Context, _ int, f func(context.Context, records.Tx) error) error {
	return t.Change(ctx, f)
}

func (t tables) Audited(ctx context.Context, e store.AuditEntry, f func(context.Context, records.Tx) error) error {
	return t.Change(ctx, func(ctx context.Context, tx records.Tx) error {
		if err := f(ctx, tx); err != nil {
			return err
		}
		return tx.Append(ctx, e)
	})
}

func (t tables) Trim(ctx context.Context, of store.Table, where records.Where) error {
	return t.Change(ctx, func(ctx context.Context, tx records.Tx) error {
		_, err := tx.Delete(ctx, of, where)
		return err
	})
}

// clause is a WHERE with its arguments; "" for all rows. Of a time in which rows lasted, the index of their ends is
// used and no other (a plus hides a column from indexes): many rows began before it, and few lasted until then.
func clause(where records.Where) (text string, args []any) {
	byEnd := slices.ContainsFunc(where, func(c records.Condition) bool { return c.OrUnset })
	for i, c := range where {
		text += map[bool]string{true: " WHERE ", false: " AND "}[i == 0]
		column := `"` + c.Column + `"`
		switch {
		case c.OrUnset:
			column = "coalesce(" + column + ", 9223372036854775807)"
		case byEnd && c.Op != "=":
			column = "+" + column
		}
		text += column + " " + c.Op + " ?"
		args = append(args, c.Value)
	}
	return text, args
}

func (r reader) rows(ctx context.Context, q records.Query) (*sql.Rows, error) {
	where, args := clause(q.Where)
	query := "SELECT " + expressions(q.Table) + " FROM " + q.Table.Name + where
	for i, column := range q.Order {
		name, down := strings.CutPrefix(column, "-")
		query += map[bool]string{true: " ORDER BY ", false: ", "}[i == 0] + `"` + name + `"`
		if down {
			query += " DESC"
		}
	}
	if q.Limit > 0 {
		query += " LIMIT " + strconv.Itoa(q.Limit)
	}
	return r.from.QueryContext(ctx, query, args...)
}

func (r reader) Find(ctx context.Context, q records.Query, f func(store.Row)) error {
	found, err := r.rows(ctx, q)
	list, err := readable(r.db, q.Table.Name, found, err, func(row scanner) (store.Row, error) { return scanRow(row, q.Table) })
	for _, row := range list {
		f(row)
	}
	return err
}

func (r reader) One(ctx context.Context, q records.Query) (store.Row, error) {
	q.Limit = 1
	found, err := r.rows(ctx, q)
	list, err := all(found, err, func(row scanner) (store.Row, error) { return scanRow(row, q.Table) })
	if err == nil && len(list) == 0 {
		err = records.ErrNone
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (r reader) Exists(ctx context.Context, t store.Table, where records.Where) (exists bool, err error) {
	text, args := clause(where)
	err = r.from.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+t.Name+text+")", args...).Scan(&exists)
	return exists, unavailable(err)
}

// scanRow reads the columns of a table, each as its type.
func scanRow(row scanner, t store.Table) (store.Row, error) {
	into := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		switch c.Type {
		case store.Text:
			into[i] = new(string)
		case store.Flag:
			into[i] = new(flag)
		case store.Number, store.Time:
			into[i] = new(int64)
		case store.Ended:
			into[i] = new(sql.NullInt64)
		default:
			into[i] = new([]byte)
		}
	}
	if err := row.Scan(into...); err != nil {
		return nil, err
	}
	out := make(store.Row, len(into))
	for i, v := range into {
		switch v := v.(type) {
		case *string:
			out[i] = *v
		case *flag:
			if out[i] = int64(0); bool(*v) {
				out[i] = int64(1)
			}
		case *int64:
			out[i] = *v
		case *sql.NullInt64:
			if v.Valid {
				out[i] = v.Int64
			}
		case *[]byte:
			out[i] = *v
		}
	}
	return out, nil
}

func (t transaction) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := t.tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, unavailable(err)
	}
	n, err := done.RowsAffected()
	return n, unavailable(err)
}

func insertion(t store.Table) string {
	return "INSERT INTO " + t.Name + " (" + expressions(t) + ") VALUES (?" + strings.Repeat(", ?", len(t.Columns)-1) + ")"
}

func (t transaction) Insert(ctx context.Context, into store.Table, row store.Row) error {
	_, err := t.exec(ctx, insertion(into), row...)
	return err
}

func (t transaction) Put(ctx context.Context, into store.Table, row store.Row) error {
	var set []string
	for _, c := range into.Columns {
		set = append(set, `"`+c.Name+`" = excluded."`+c.Name+`"`)
	}
	_, err := t.exec(ctx, insertion(into)+` ON CONFLICT ("`+strings.Join(into.Key, `", "`)+`") DO UPDATE SET `+strings.Join(set, ", "), row...)
	return err
}

func (t transaction) Update(ctx context.Context, of store.Table, where, set records.Where) (int64, error) {
	var changes []string
	var args []any
	for _, c := range set {
		changes, args = append(changes, `"`+c.Column+`" = ?`), append(args, c.Value)
	}
	text, more := clause(where)
	return t.exec(ctx, "UPDATE "+of.Name+" SET "+strings.Join(changes, ", ")+text, append(args, more...)...)
}

func (t transaction) Delete(ctx context.Context, of store.Table, where records.Where) (int64, error) {
	text, args := clause(where)
	return t.exec(ctx, "DELETE FROM "+of.Name+text, args...)
}

// DropRequests does nothing: a file has no followers.
func (t transaction) DropRequests(context.Context) error { return nil }

func (t transaction) Number(ctx context.Context, table string) (n int64, err error) {
	err = t.tx.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) + 1 FROM "+table).Scan(&n)
	return n, unavailable(err)
}

func (t transaction) Append(ctx context.Context, entries ...store.AuditEntry) error {
	return t.db.appendAll(ctx, t.tx, entries)
}

var _ records.DB = tables{}
