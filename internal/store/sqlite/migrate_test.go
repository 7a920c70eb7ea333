package sqlite

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// Each released schema is that after one of the steps: a file of it with a row in every table is
// opened by this program, which must find all rows as they were.
func TestRowsOfEverySchemaSurviveTheUpgrade(t *testing.T) {
	names := steps()
	for n := 1; n <= len(names); n++ {
		if testing.Short() && n != 1 && n != len(names)/2 && n != len(names) {
			continue // each takes half a second of syncing a disk
		}
		t.Run(names[n-1], func(t *testing.T) {
			dir := t.TempDir()
			before := oldFile(t, filepath.Join(dir, FileName), names[:n])
			db := open(t, dir)
			for table, columns := range before {
				values := make([]any, len(columns))
				into := make([]any, len(columns))
				for i := range values {
					into[i] = &values[i]
				}
				query := `SELECT "` + join(columns) + `" FROM ` + table
				if err := db.read.QueryRowContext(t.Context(), query).Scan(into...); err != nil {
					t.Errorf("%s: %v", table, err)
					continue
				}
				for i, v := range values {
					if text := fmt.Sprint(v); text != "x" && text != "1" && text != "[120]" {
						t.Errorf("%s.%s is %v", table, columns[i], v)
					}
				}
			}
			expect.NoError(t, db.SetSetting(t.Context(), "new", "1"), "SetSetting")
			// What the steps compute from older rows follows them.
			if _, had := before["history_events"]; had {
				for _, table := range []string{"history_event_minutes", "history_event_spans"} {
					var n int
					if err := db.read.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil || n == 0 {
						t.Errorf("%s has %d rows, %v", table, n, err)
					}
				}
			}
		})
	}
}

// oldFile makes a file by the first steps, with one row in each table: x in texts and bytes, 1 in
// numbers. It returns the tables and columns.
func oldFile(t *testing.T, path string, names []string) columns {
	t.Helper()
	db := must.Get(sql.Open("sqlite", path))
	defer db.Close()
	db.SetMaxOpenConns(1)
	do := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	do(`PRAGMA synchronous = OFF`)
	do(`CREATE TABLE migrations (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT`)
	for _, name := range names {
		must.Do(t, apply(t.Context(), db, name))
	}
	tables, err := columnsOf(t.Context(), db)
	must.Do(t, err)
	delete(tables, "migrations")
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		values := ""
		for i, c := range tables[table] {
			var kind string
			must.Do(t, db.QueryRowContext(t.Context(), `SELECT type FROM pragma_table_info(?) WHERE name = ?`, table, c).Scan(&kind))
			if i > 0 {
				values += ", "
			}
			values += map[string]string{"TEXT": "'x'", "INTEGER": "1", "BLOB": "x'78'"}[kind]
		}
		do(`INSERT INTO ` + table + ` ("` + join(tables[table]) + `") VALUES (` + values + `)`)
	}
	return tables
}

func join(columns []string) (out string) {
	for i, c := range columns {
		if i > 0 {
			out += `", "`
		}
		out += c
	}
	return out
}

// A copy takes what store.Tables says: a new table or column must be added there.
func TestCopiesTakeEveryColumn(t *testing.T) {
	want, err := wanted()
	must.Do(t, err)
	want = maps.Clone(want)
	delete(want, "migrations")
	for _, table := range store.Tables() {
		var names []string
		for _, c := range table.Columns {
			if c.Name != table.RowID {
				names = append(names, c.Name)
			}
		}
		has := slices.Clone(want[table.Name])
		slices.Sort(has)
		if slices.Sort(names); !slices.Equal(names, has) {
			t.Errorf("%s has the columns %v; a copy takes %v", table.Name, has, names)
		}
		delete(want, table.Name)
	}
	expect.That(t, len(want) == 0, "a copy leaves out %v", slices.Sorted(maps.Keys(want)))
}
