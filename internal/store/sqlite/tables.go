package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/records"
)

// queryer is a connection pool or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

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

func (db *DB) in(tx *sql.Tx) transaction { return transaction{reader{db, tx}, tx} }

func (t tables) Change(ctx context.Context, f func(context.Context, records.Tx) error) error {
	return t.db.change(ctx, func(tx *sql.Tx) error { return f(ctx, t.db.in(tx)) })
}

func (t tables) Lead(ctx context.Context, _ int, f func(context.Context, records.Tx) error) error {
	return t.Change(ctx, f)
}

func (t tables) Audited(ctx context.Context, e store.AuditEntry, f func(context.Context, records.Tx) error) error {
	return t.Change(ctx, func(ctx context.Context, tx records.Tx) error {
		if err := f(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Append(ctx, e)
		return err
	})
}

func (t tables) Trim(ctx context.Context, of store.Table, where ...records.Where) error {
	return t.Change(ctx, func(ctx context.Context, tx records.Tx) error {
		_, err := tx.Delete(ctx, of, where...)
		return err
	})
}

// quoted is a column in a statement.
func quoted(t store.Table, column string) string {
	if column == t.RowID {
		return "rowid"
	}
	return `"` + column + `"`
}

// selected are the columns of a table in a statement.
func selected(t store.Table) string {
	var out []string
	for _, c := range t.Columns {
		out = append(out, quoted(t, c.Name))
	}
	return strings.Join(out, ", ")
}

// clause is a WHERE with its arguments; "" for all rows. Of a time in which rows lasted, the index of their ends is
// used and no other (a plus hides a column from indexes): many rows began before it, and few lasted until then.
func clause(t store.Table, where records.Where, more ...string) (text string, args []any) {
	byEnd := slices.ContainsFunc(where, func(c records.Condition) bool { return c.OrUnset })
	for _, c := range where {
		column, values := quoted(t, c.Column), []any{c.Value}
		switch {
		case c.Op == "set":
			more = append(more, column)
			continue
		case c.Op == "in":
			values = nil
			for _, v := range c.Value.([]string) {
				values = append(values, v)
			}
		case c.OrUnset:
			column = "coalesce(" + column + ", 9223372036854775807)"
		case byEnd && c.Op != "=":
			column = "+" + column
		}
		more = append(more, column+" "+c.Op+" (?"+strings.Repeat(", ?", len(values)-1)+")")
		args = append(args, values...)
	}
	if len(more) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(more, " AND "), args
}

func (r reader) rows(ctx context.Context, q records.Query) (*sql.Rows, error) {
	query, more := "SELECT "+selected(q.Table)+" FROM "+q.Table.Name, []string(nil)
	if q.Rare != "" {
		query += " INDEXED BY " + q.Table.Name + "_" + q.Rare // without statistics SQLite reads all rows of the time
	}
	if n := q.NotIn; n != nil {
		more = append(more, fmt.Sprintf("NOT EXISTS (SELECT 1 FROM %[1]s WHERE %[1]s.%[2]s = %[3]s.%[4]s)",
			n.Table.Name, n.Column, q.Table.Name, q.Table.Key[0]))
	}
	where, args := clause(q.Table, q.Where, more...)
	query += where
	for i, column := range q.Order {
		name, down := strings.CutPrefix(column, "-")
		query += map[bool]string{true: " ORDER BY ", false: ", "}[i == 0] + quoted(q.Table, name)
		if down {
			query += " DESC"
		}
	}
	if q.Limit > 0 || q.Skip > 0 {
		query += fmt.Sprintf(" LIMIT %d OFFSET %d", cmp.Or(q.Limit, -1), q.Skip)
	}
	return r.from.QueryContext(ctx, query, args...)
}

func (r reader) Find(ctx context.Context, q records.Query, f func(store.Row) bool) error {
	found, err := r.rows(ctx, q)
	if err != nil {
		return failureOf(q.Table, err)
	}
	defer found.Close()
	for found.Next() {
		row, err := scanRow(found, q.Table)
		switch {
		case err == nil:
			if !f(row) {
				return nil
			}
		case q.Strict || !unscannable(err) || isAudit(q.Table): // a column that is missing reads as text, its name
			return failureOf(q.Table, err)
		default:
			r.db.file.leaveOut(q.Table, row, err)
		}
	}
	return failureOf(q.Table, found.Err())
}

func isAudit(t store.Table) bool { return strings.HasPrefix(t.Name, "audit") }

// failureOf classifies a failure of a statement about a table.
func failureOf(t store.Table, err error) error {
	if isAudit(t) {
		return auditFailure(err)
	}
	return unavailable(err)
}

// errOtherType means that a value has another type than its column.
var errOtherType = errors.New("not written by shardboard")

// leaveOut counts a row that lists omit, and logs it once by its first column.
func (f *file) leaveOut(t store.Table, row store.Row, err error) {
	if name, first := f.unreadable.Add(t.Name, fmt.Sprintf("%s %v", t.Columns[0].Name, row[0])); first {
		f.log.Error("a row of the database is unreadable and is left out", "table", t.Name, "row", name, "err", err)
	}
}

// Unreadable returns how many unreadable rows were found in each table since the start. Lists omit them.
func (db *DB) Unreadable() []store.UnreadableRows { return db.file.unreadable.Count() }

// scanRow reads the columns of a table. It returns the values also if one of them has another type than its column.
func scanRow(from *sql.Rows, t store.Table) (store.Row, error) {
	row, into := make(store.Row, len(t.Columns)), make([]any, len(t.Columns))
	for i := range row {
		into[i] = &row[i]
	}
	if err := from.Scan(into...); err != nil {
		return row, err
	}
	for i, c := range t.Columns {
		n, isNumber := row[i].(int64)
		b, isBytes := row[i].([]byte)
		_, ok := row[i].(string)
		switch c.Type {
		case store.Text:
		case store.Number, store.Time:
			ok = isNumber
		case store.Ended:
			ok = isNumber || row[i] == nil
		case store.Flag: // any number but 0: an account with an invalid value is disabled
			if ok = isNumber; n != 0 {
				row[i] = int64(1)
			}
		default: // the driver reads an empty value as NULL
			if ok = isBytes || row[i] == nil; len(b) == 0 {
				row[i] = map[bool]any{true: nil, false: []byte{}}[c.Type == store.Unset]
			}
		}
		if !ok {
			return row, fmt.Errorf("column %s has a %T: %w", c.Name, row[i], errOtherType)
		}
	}
	return row, nil
}

// exec runs a statement about a table.
func (t transaction) exec(ctx context.Context, of store.Table, statement string, args ...any) (int64, error) {
	done, err := t.tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, failureOf(of, err)
	}
	n, err := done.RowsAffected()
	return n, failureOf(of, err)
}

// add adds rows by a statement.
func (t transaction) add(ctx context.Context, into store.Table, rows []store.Row, insert, onConflict string) error {
	values := " (" + selected(into) + ") VALUES (?" + strings.Repeat(", ?", len(into.Columns)-1) + ")"
	for _, row := range rows {
		if _, err := t.exec(ctx, into, insert+" INTO "+into.Name+values+onConflict, row...); err != nil {
			return err
		}
	}
	return nil
}

func (t transaction) Insert(ctx context.Context, into store.Table, rows ...store.Row) error {
	return t.add(ctx, into, rows, "INSERT", "")
}

func (t transaction) Put(ctx context.Context, into store.Table, rows ...store.Row) error {
	return t.add(ctx, into, rows, "INSERT OR REPLACE", "")
}

func (t transaction) Count(ctx context.Context, into store.Table, rows ...store.Row) error {
	return t.add(ctx, into, rows, "INSERT", " ON CONFLICT DO UPDATE SET n = n + excluded.n")
}

func (t transaction) Update(ctx context.Context, of store.Table, where, set records.Where) (int64, error) {
	var changes []string
	var args []any
	for _, c := range set {
		changes, args = append(changes, quoted(of, c.Column)+" = ?"), append(args, c.Value)
	}
	text, more := clause(of, where)
	return t.exec(ctx, of, "UPDATE "+of.Name+" SET "+strings.Join(changes, ", ")+text, append(args, more...)...)
}

func (t transaction) Delete(ctx context.Context, of store.Table, where ...records.Where) (deleted int64, err error) {
	for _, w := range where {
		text, args := clause(of, w)
		n, err := t.exec(ctx, of, "DELETE FROM "+of.Name+text, args...)
		if err != nil {
			return 0, err
		}
		deleted += n
	}
	return deleted, nil
}

// DropRequests does nothing: a file has no followers.
func (t transaction) DropRequests(context.Context) error { return nil }

func (t transaction) Number(ctx context.Context, of store.Table, column string, _ int) (n int64, err error) {
	err = t.tx.QueryRowContext(ctx, "SELECT coalesce(max("+quoted(of, column)+"), 0) + 1 FROM "+of.Name).Scan(&n)
	return n, failureOf(of, err)
}

// Append adds an entry to the audit record within the transaction, so that a change and its entry are written together.
func (t transaction) Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error) {
	end, err := records.AuditEnd(ctx, t)
	if err == nil {
		end, err = t.db.written.follow(end)
	}
	if err != nil {
		return store.AuditRecord{}, err
	}
	r, err := records.AddAuditRecord(ctx, t, e, end)
	if err == nil {
		t.db.written.pending = &audit.Point{Seq: r.Seq, Hash: r.Hash}
	}
	return r, err
}

var _ records.DB = tables{}
