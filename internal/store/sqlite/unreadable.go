package sqlite

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"

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
