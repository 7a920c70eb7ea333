package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"shardboard/internal/store"
)

// columns are the columns of each table.
type columns map[string][]string

// wanted are the tables that all migrations make, created once in memory.
var wanted = sync.OnceValues(func() (columns, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, fmt.Errorf("make the schema in memory: %w", err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would be a separate database
	ctx := context.Background()
	if err := migrate(ctx, db); err != nil {
		return nil, err
	}
	return columnsOf(ctx, db)
})

// columnsOf reads the existing tables and columns.
func columnsOf(ctx context.Context, db *sql.DB) (columns, error) {
	found, err := db.QueryContext(ctx, `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	defer found.Close()
	out := columns{}
	for found.Next() {
		var table, column string
		if err := found.Scan(&table, &column); err != nil {
			return nil, fmt.Errorf("read the tables: %w", err)
		}
		out[table] = append(out[table], column)
	}
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	return out, nil
}

// complete fails when a table or column is missing. Otherwise the first statement that needs it
// would fail, perhaps hours later.
func (f *file) complete(ctx context.Context, db *sql.DB) error {
	want, err := wanted()
	if err != nil {
		return err
	}
	found, err := columnsOf(ctx, db)
	if err != nil {
		return err
	}
	for _, table := range slices.Sorted(keys(want)) {
		has, ok := found[table]
		if !ok {
			return f.refuse(f.missing("table", table))
		}
		for _, column := range want[table] {
			if !slices.Contains(has, column) {
				return f.refuse(f.missing("column", table+"."+column))
			}
		}
	}
	return nil
}

func keys(c columns) iter.Seq[string] { return maps.Keys(c) }

// halfway explains an upgrade that finds some of its tables already there: each step is all or
// nothing, so another program changed the file or it was restored in part.
func (f *file) halfway(err error) error {
	var c coded
	if _, known := store.TroubleOf(err); known || !errors.As(err, &c) ||
		!strings.Contains(c.Error(), "already exists") && !strings.Contains(c.Error(), "duplicate column") {
		return err
	}
	t := f.trouble(store.TroubleSchema,
		"%s cannot be upgraded to this version: some of the new tables or columns already exist, so it was restored in part or changed by "+
			"another program.", f.path)
	return f.meet(t, err).Failed(err)
}
