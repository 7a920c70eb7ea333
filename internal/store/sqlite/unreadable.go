package sqlite

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// maxUnreadable bounds how many unreadable rows of a table are remembered and counted.
const maxUnreadable = 10_000

// leaveOut remembers a row that lists omit, and logs it once.
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
	f.log.Error(
		"a row of the database is unreadable and is left out",
		"table",
		table,
		"row",
		sanitize.Line(sanitize.Shorten(row, 100)),
		"err",
		err,
	)
}

// Unreadable returns how many unreadable rows were found in each table since the start. Lists omit
// them.
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

// readable reads and closes rows, without those that cannot be read.
func readable[T any](db *DB, table string, found *sql.Rows, err error, scan func(scanner) (T, error)) ([]T, error) {
	return allBut(found, err, scan, func(err error) bool {
		if !unscannable(err) {
			return false
		}
		db.file.leaveOut(table, nameOf(found), err)
		return true
	})
}

// nameOf is the first column of a row, whatever its type, so that a person can find the row.
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

// flag is a stored boolean. Every number except 0 is true, so an account with an invalid value is
// disabled. An invalid value must not make a row unreadable: a page of a list without it would look
// like the last page.
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

// stamped is a stored time. A time outside the years that texts allow (0001 to 9999) was not
// written by shardboard; it becomes the nearest allowed time, so that lists do not fail on it.
func stamped(ms int64) time.Time {
	const least, most = -62_135_596_800_000, 253_402_300_799_999
	return time.UnixMilli(min(max(ms, least), most)).UTC()
}
