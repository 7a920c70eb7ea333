package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/records"
)

// incompleteCopy is a row of the migrations while a copy into the file is not complete. Every
// version refuses a migration that it does not know.
const incompleteCopy = "copy_incomplete"

var _ store.RowStore = (*DB)(nil)

// rowReader reads tables in one transaction, which sees the file as it was at its begin.
type rowReader reader

// Snapshot calls f with a reader of all tables at one moment.
func (db *DB) Snapshot(ctx context.Context, f func(store.RowReader) error) error {
	tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return unavailable(err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	return f(rowReader{db, tx})
}

func (r rowReader) ReadRows(ctx context.Context, t store.Table, f func(store.Row) error) error {
	return records.ReadRows(ctx, reader(r), t, f)
}

// Alone fails when another process owns the directory.
func (db *DB) Alone(context.Context) error {
	if !db.Owner() {
		return fault.New(fault.Conflict, "A running shardboard owns %s. Stop it first.", db.Place())
	}
	return nil
}

// BeginLoad marks an empty file as unusable.
func (db *DB) BeginLoad(ctx context.Context) error {
	if err := db.Alone(ctx); err != nil {
		return err
	}
	err := db.change(ctx, func(tx *sql.Tx) error {
		if err := records.MustBeEmpty(ctx, reader{db, tx}, db.Place()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO migrations VALUES (?, 0)`, incompleteCopy)
		return unavailable(err)
	})
	if err != nil {
		return err
	}
	// The mark reaches the file itself before anything is written that a power cut may tear.
	if err := db.checkpoint(ctx); err != nil {
		return err
	}
	_, err = db.write.ExecContext(ctx, `PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 16384`)
	return unavailable(err)
}

// checkpoint moves all changes from the journal into the file, and both onto the disk unless synchronous is OFF.
func (db *DB) checkpoint(ctx context.Context) error {
	var busy, pages, moved int
	if err := db.write.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved); err != nil {
		return unavailable(err)
	}
	if busy != 0 {
		return fault.New(fault.Conflict, "Another program has %s open, so its journal cannot be written into it.", db.file.path)
	}
	return nil
}

// loadTogether is how many rows one statement adds: most of the time of a small one is spent around it.
const loadTogether = 100

// LoadRows adds rows. A row that does not fit ends the transaction, so SQLite need not keep each page as it was before
// a statement.
func (db *DB) LoadRows(ctx context.Context, t store.Table, rows []store.Row) error {
	one := "(?" + strings.Repeat(", ?", len(t.Columns)-1) + ")"
	return db.change(ctx, func(tx *sql.Tx) error {
		for _, n := range []int{loadTogether, 1} {
			insert, err := tx.PrepareContext(ctx, `INSERT OR ROLLBACK INTO `+t.Name+` (`+selected(t)+`) VALUES `+one+strings.Repeat(", "+one, n-1))
			if err != nil {
				return unavailable(err)
			}
			defer insert.Close()
			for ; len(rows) >= n; rows = rows[n:] {
				if _, err := insert.ExecContext(ctx, slices.Concat(rows[:n]...)...); err != nil {
					return fmt.Errorf("insert into %s: %w", t.Name, unavailable(err))
				}
			}
		}
		return nil
	})
}

// EndLoad makes the file usable, once all of it is on the disk.
func (db *DB) EndLoad(ctx context.Context) error {
	_, err := db.write.ExecContext(ctx,
		fmt.Sprintf(`PRAGMA synchronous = FULL; PRAGMA cache_size = -%d; PRAGMA wal_autocheckpoint = 1000`, cacheKiB))
	if err != nil {
		return unavailable(err)
	}
	if err := db.checkpoint(ctx); err != nil {
		return err
	}
	return db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM migrations WHERE name = ?`, incompleteCopy)
		return unavailable(err)
	})
}
