package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

//go:embed migrations/*.sql
var migrations embed.FS

// steps are the names of the migrations in order. A released step is never edited; a later step
// corrects it.
func steps() []string {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is constant
	}
	slices.Sort(names)
	for i := range names {
		names[i] = path.Base(names[i])
	}
	return names
}

// migrate applies the missing steps, each in one transaction with the row that records it.
func migrate(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT`); err != nil {
		return fmt.Errorf("prepare schema: %w", err)
	}
	done, err := applied(ctx, db)
	if err != nil {
		return err
	}
	for _, name := range steps() {
		if slices.Contains(done, name) {
			continue
		}
		if err := apply(ctx, db, name); err != nil {
			return err
		}
	}
	return nil
}

func apply(ctx context.Context, db *sql.DB, name string) error {
	text, err := migrations.ReadFile("migrations/" + name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin %s: %w", name, err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return fmt.Errorf("apply %s: %w", name, err)
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO migrations VALUES (?, ?)`, name, time.Now().UnixMilli()); err != nil {
		return fmt.Errorf("note %s: %w", name, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit %s: %w", name, err)
	}
	return nil
}

func applied(ctx context.Context, db *sql.DB) ([]string, error) {
	names, err := textsOf(ctx, db, `SELECT name FROM migrations ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return names, nil
}

// textsOf returns the rows of a statement that has one column.
func textsOf(ctx context.Context, db *sql.DB, query string) (texts []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}

// checkVersion rejects a file written by a newer shardboard, and one that is older than this
// program while another process owns it: this program's statements fit neither.
func checkVersion(ctx context.Context, db *sql.DB) error {
	done, err := applied(ctx, db)
	if err != nil {
		return err
	}
	if err := newer(done); err != nil {
		return err
	}
	if len(done) < len(steps()) {
		return fault.New(fault.Conflict, "An older shardboard owns this data and has to end first.")
	}
	return nil
}

// checkNewer rejects a file written by a newer shardboard before anything in it is changed.
func checkNewer(ctx context.Context, db *sql.DB) error {
	found, err := columnsOf(ctx, db)
	if err != nil {
		return err
	}
	if _, any := found["migrations"]; !any {
		return nil
	}
	done, err := applied(ctx, db)
	if err != nil {
		return err
	}
	return newer(done)
}

func newer(done []string) error {
	known := steps()
	for _, name := range done {
		if name == incompleteCopy {
			return fault.New(fault.Conflict,
				"A copy or a restore into this data directory did not complete, so it cannot be used. Delete it and begin again.")
		}
		if !slices.Contains(known, name) {
			return fault.New(
				fault.Conflict,
				"A newer shardboard has written this data (%s). Start that version or a later one again, or restore a backup from before the "+
					"upgrade; data never goes back to an older version.",
				sanitize.Line(sanitize.Shorten(name, 100)),
			)
		}
	}
	return nil
}
