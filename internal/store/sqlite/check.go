package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// startLimit bounds the check of all pages at start. 200 MB take 0.16 s from the system's cache;
// what a slow disk does not deliver in time is checked in the background (Check).
const startLimit = 2 * time.Second

// maxFindings bounds what one check reports: the first becomes the error, all are logged.
const maxFindings = 20

// Check reads every page of the database and fails with a Trouble when they are inconsistent or a
// table is missing. It takes seconds per gigabyte and does not block readers or writers.
func (db *DB) Check(ctx context.Context) error {
	if err := db.file.check(ctx, db.read); err != nil {
		return err
	}
	db.checked.Store(true)
	return db.file.complete(ctx, db.read)
}

// Checked reports whether all pages have been checked since the start.
func (db *DB) Checked() bool { return db.checked.Load() }

// checkAtStart checks as much as startLimit allows.
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
	list, err := textsOf(ctx, pool, fmt.Sprintf(`PRAGMA quick_check(%d)`, maxFindings))
	if err != nil {
		return unavailable(err)
	}
	var first string
	for _, line := range list {
		switch {
		case line == "ok":
		case isRowFinding(line): // lists omit and report such a row
			f.log.Warn("a row of the database has an invalid value", "file", f.path, "found", sanitize.Line(line))
		default:
			if first == "" {
				first = line
			}
			if f.isOpen() {
				f.log.Error("the database is damaged", "file", f.path, "found", sanitize.Line(line))
			}
		}
	}
	if first == "" {
		return nil
	}
	t := f.trouble(store.TroubleDamaged, "%s is damaged: a check of its pages failed.", f.path)
	cause := errors.New(sanitize.Line(first))
	return f.meet(t, cause).Failed(cause)
}

// isRowFinding reports whether a finding is about the content of one row; such rows can be skipped,
// unlike damaged pages.
func isRowFinding(line string) bool {
	return strings.HasPrefix(line, "NULL value in ") || strings.HasPrefix(line, "non-") || strings.HasPrefix(line, "TEXT value in ") ||
		strings.HasPrefix(line, "NUMERIC value in ") || strings.HasPrefix(line, "CHECK constraint failed in ")
}
