package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"shardboard/internal/hostile"
	"shardboard/internal/store"
)

// startLimit bounds the check of all pages before anybody is served. 200 MB take 0.16 s
// from the cache of the system; what a cold disk cannot give in time is checked
// in the background (Check), so that no start waits for it.
const startLimit = 2 * time.Second

// findings bounds what one check reports: the first is told, the others are logged.
const maxFindings = 20

// Check reads every page of the database, and fails with a trouble when they do not
// fit together, or when a table is missing. It takes seconds per gigabyte and disturbs no reader or writer.
func (db *DB) Check(ctx context.Context) error {
	if err := db.file.check(ctx, db.read); err != nil {
		return err
	}
	db.checked.Store(true)
	return db.file.complete(ctx, db.read)
}

// Checked tells whether all pages have been checked since the start.
func (db *DB) Checked() bool { return db.checked.Load() }

// checkAtStart checks as much as the start may wait for.
func (db *DB) checkAtStart(ctx context.Context, pool *sql.DB) error {
	short, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	err := db.file.check(short, pool)
	if err != nil && ctx.Err() == nil && errors.Is(short.Err(), context.DeadlineExceeded) {
		return nil
	}
	db.checked.Store(err == nil)
	return err
}

func (f *file) check(ctx context.Context, pool *sql.DB) error {
	found, err := pool.QueryContext(ctx, fmt.Sprintf(`PRAGMA quick_check(%d)`, maxFindings))
	if err != nil {
		return unavailable(err)
	}
	list, err := all(found, nil, scanText)
	if err != nil {
		return err
	}
	var first string
	for _, line := range list {
		switch {
		case line == "ok":
		case isRowFinding(line): // the lists leave such a row out, with words
			f.log.Warn("a row of the database is not as it was written", "file", f.path, "found", hostile.Line(line))
		default:
			if first == "" {
				first = line
			}
			if f.isOpen() {
				f.log.Error("the database is damaged", "file", f.path, "found", hostile.Line(line))
			}
		}
	}
	if first == "" {
		return nil
	}
	t := f.trouble(store.TroubleDamaged, "%s is damaged: a check of its pages failed.", f.path)
	cause := errors.New(hostile.Line(first))
	return f.meet(t, cause).Failed(cause)
}

// aboutRow tells a finding about the content of one row from one about pages: rows
// can be read past it.
func isRowFinding(line string) bool {
	return strings.HasPrefix(line, "NULL value in ") || strings.HasPrefix(line, "non-") || strings.HasPrefix(line, "TEXT value in ") ||
		strings.HasPrefix(line, "NUMERIC value in ") || strings.HasPrefix(line, "CHECK constraint failed in ")
}
