package sqlite

import (
	"database/sql"
	"fmt"

	"shardboard/internal/store"
)

// leaveOut counts a row that lists omit, and logs it once.
func (f *file) leaveOut(table, row string, err error) {
	if name, first := f.unreadable.Add(table, row); first {
		f.log.Error("a row of the database is unreadable and is left out", "table", table, "row", name, "err", err)
	}
}

// Unreadable returns how many unreadable rows were found in each table since the start. Lists omit
// them.
func (db *DB) Unreadable() []store.UnreadableRows { return db.file.unreadable.Count() }

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
