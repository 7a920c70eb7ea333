package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"shardboard/internal/hostile"
	"shardboard/internal/store"
)

// rowsTold bounds the rows that are remembered as unreadable; more are counted on.
const maxUnreadable = 10_000

// leaveOut remembers a row that a list is without, and logs it once.
func (f *file) leaveOut(table, row string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unreadable == nil {
		f.unreadable = map[string]map[string]bool{}
	}
	if f.unreadable[table] == nil {
		f.unreadable[table] = map[string]bool{}
	}
	if f.unreadable[table][row] || len(f.unreadable[table]) >= maxUnreadable {
		return
	}
	f.unreadable[table][row] = true
	f.log.Error("a row of the database is unreadable and is left out", "table", table, "row", hostile.Line(hostile.Shorten(row, 100)), "err", err)
}

// Unreadable tells how many rows of which tables were met that cannot be read, since
// the start. Lists are without them.
func (db *DB) Unreadable() []store.UnreadableRows {
	f := db.file
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []store.UnreadableRows
	for _, table := range slices.Sorted(maps.Keys(f.unreadable)) {
		out = append(out, store.UnreadableRows{Table: table, Rows: len(f.unreadable[table])})
	}
	return out
}

// readable reads every row that can be read and closes them. One that cannot hides
// none of the others.
func readable[T any](db *DB, table string, found *sql.Rows, err error, scan func(scanner) (T, error)) ([]T, error) {
	return allBut(found, err, scan, func(err error) bool {
		if !unscannable(err) {
			return false
		}
		db.file.leaveOut(table, nameOf(found), err)
		return true
	})
}

// nameOf is the first column of a row, whatever its type: by it a person finds it.
func nameOf(found *sql.Rows) string {
	names, err := found.Columns()
	if err != nil {
		return "?"
	}
	values := make([]any, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	if err := found.Scan(into...); err != nil || len(values) == 0 {
		return "?"
	}
	return fmt.Sprintf("%s %v", names[0], values[0])
}

// listed is readable of a query.
func listed[T any](ctx context.Context, db *DB, table string, one func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	found, err := db.read.QueryContext(ctx, query, args...)
	return readable(db, table, found, err, func(row scanner) (T, error) { return one(row.Scan) })
}

// flag is a stored yes or no: what is not 0 is yes, so an account with rubbish there
// is disabled. Every list that is read in pages can then read all its rows: a page
// without one of them would look like the last one.
type flag bool

// Scan takes an integer.
func (f *flag) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%T is not a flag", v)
	}
	*f = n != 0
	return nil
}

// stamped is a stored time. One out of the years that texts have (0001 to 9999) was
// not written by us; it becomes the nearest of them, so that no list ends at it.
func stamped(ms int64) time.Time {
	const least, most = -62_135_596_800_000, 253_402_300_799_999
	return time.UnixMilli(min(max(ms, least), most)).UTC()
}
