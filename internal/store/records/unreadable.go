package records

import (
	"maps"
	"slices"
	"sync"

	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// maxUnreadable bounds how many unreadable rows of a table are remembered and counted.
const maxUnreadable = 10_000

// Unreadable counts the rows that lists leave out. The zero value has none; it is safe for concurrent use.
type Unreadable struct {
	mu    sync.Mutex
	found map[string]map[string]bool // by table and name of the row
}

// Add counts a row by its name. It returns the name for the log, and whether it is new.
func (u *Unreadable) Add(table, row string) (name string, first bool) {
	name = sanitize.Line(sanitize.Shorten(row, 100))
	u.mu.Lock()
	defer u.mu.Unlock()
	rows := u.found[table]
	if rows[name] || len(rows) >= maxUnreadable {
		return name, false
	}
	if u.found == nil {
		u.found = map[string]map[string]bool{}
	}
	if rows == nil {
		u.found[table] = map[string]bool{}
	}
	u.found[table][name] = true
	return name, true
}

// Count returns how many rows of each table were left out since the start.
func (u *Unreadable) Count() (out []store.UnreadableRows) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, table := range slices.Sorted(maps.Keys(u.found)) {
		out = append(out, store.UnreadableRows{Table: table, Rows: len(u.found[table])})
	}
	return out
}
