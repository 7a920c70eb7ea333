// Package sqlite keeps a store in one SQLite file. One process owns it, by a
// lock on a file beside it that the system releases when the process ends,
// however it ends; others read. Writes go through one connection with
// journal_mode=WAL and synchronous=FULL: what was committed survives a power
// cut. The schema only ever moves forward.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	driver "modernc.org/sqlite"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const (
	fileName = "shardboard.db"
	lockName = "shardboard.lock"
	readers  = 4 // connections that read beside the one that writes
)

// DB is a store in a directory.
type DB struct {
	write *sql.DB // one connection; nil when read only
	read  *sql.DB
	lock  *os.File // nil when read only
	file  *file

	checked atomic.Bool // all pages were read since the start, and fit together
}

var _ store.Store = (*DB)(nil)

// Open opens or makes the store in a directory, which only its owner may read.
// When another process owns it, the store opens for reading, and Owner is false.
func Open(ctx context.Context, dir string) (*DB, error) { return OpenWith(ctx, dir, Options{}) }

// OpenWith is Open with options.
func OpenWith(ctx context.Context, dir string, o Options) (*DB, error) {
	f := newFile(filepath.Join(dir, fileName), o)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, cannot(f.failed(err), "Cannot make the data directory %s. Choose another with --data-dir.", dir)
	}
	lock, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return nil, cannot(f.failed(err), "Cannot lock the data directory %s. Choose another with --data-dir.", dir)
	}
	db := &DB{lock: lock, file: f}
	if err := db.open(ctx); err != nil {
		return nil, errors.Join(cannot(err, "Cannot open the data in %s: %s", dir, fault.Text(err)), db.Close())
	}
	return db, nil
}

// cannot gives a failure to open its sentence. What is wrong with the file itself has
// one already, with the remedy.
func cannot(err error, format string, args ...any) error {
	if _, ok := store.TroubleOf(err); ok {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, format, args...)
}

func (db *DB) open(ctx context.Context) error {
	f := db.file
	isNew, err := f.recognise(ctx)
	if err != nil {
		return err
	}
	if db.lock != nil {
		if err := db.own(ctx, isNew); err != nil {
			return err
		}
	}
	if db.read, err = f.connect("ro", readers); err != nil {
		return err
	}
	if err := db.read.PingContext(ctx); err != nil {
		return fmt.Errorf("open %s for reading: %w", f.path, err)
	}
	if err := checkVersion(ctx, db.read); err != nil {
		return err
	}
	if err := f.complete(ctx, db.read); err != nil {
		return err
	}
	f.open()
	return nil
}

// own opens the file for writing. It is checked before anything is changed in it:
// what is written into a damaged file can destroy what could still be saved.
func (db *DB) own(ctx context.Context, isNew bool) (err error) {
	f := db.file
	if err := restrict(f.path); err != nil {
		return f.failed(err)
	}
	if db.write, err = f.connect("rwc", 1); err != nil {
		return err
	}
	if !isNew {
		if err := db.checkAtStart(ctx, db.write); err != nil {
			return err
		}
		if err := checkNewer(ctx, db.write); err != nil {
			return err
		}
	}
	if err := migrate(ctx, db.write); err != nil {
		return f.halfway(err)
	}
	if isNew {
		db.checked.Store(true)
	}
	return mark(ctx, db.write)
}

// halfway is the failure of an upgrade whose tables are there already, or of which
// only some are: each step is all or nothing, so somebody else has changed them.
func (f *file) halfway(err error) error {
	var c coded
	if _, known := store.TroubleOf(err); known || !errors.As(err, &c) || !strings.Contains(c.Error(), "already exists") && !strings.Contains(c.Error(), "duplicate column") {
		return err
	}
	t := f.trouble(store.TroubleSchema, "%s cannot be upgraded to this version: some of the new tables or columns are there already, so it was restored in part or changed by another program.", f.path)
	return f.meet(t, err).Failed(err)
}

// restrict makes the file its owner's alone before there is anything in it:
// SQLite gives the files beside it, where every change is first, its mode.
func restrict(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return fmt.Errorf("restrict %s: %w", path, err)
	}
	return nil
}

// connect names every setting in the address, so that each connection of the
// pool has them.
func (f *file) connect(mode string, connections int) (*sql.DB, error) {
	q := url.Values{"mode": {mode}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", f.wait.Milliseconds()), "foreign_keys(1)"}}
	if mode != "ro" {
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)", "synchronous(FULL)")
		q.Set("_txlock", "immediate")
	}
	c, err := driver.NewConnector("file:" + (&url.URL{Path: f.path}).EscapedPath() + "?" + q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", f.path, err)
	}
	db := sql.OpenDB(connector{c, f})
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Owner tells whether this process may write.
func (db *DB) Owner() bool { return db.write != nil }

// Close ends all use and gives up the ownership.
func (db *DB) Close() error {
	var errs []error
	for _, d := range []*sql.DB{db.read, db.write} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	if db.lock != nil {
		errs = append(errs, db.lock.Close())
	}
	return errors.Join(errs...)
}

// change runs f in a transaction of the one connection that writes. It is
// committed when f gives no error; what f read is not changed by anybody else
// in between.
func (db *DB) change(ctx context.Context, f func(*sql.Tx) error) error {
	if db.write == nil {
		return store.ErrReadOnly
	}
	if err := db.file.damaged(); err != nil {
		return err
	}
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return unavailable(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return unavailable(err)
	}
	return nil
}

// unavailable is a failure to read or write. What is wrong with the file is told by
// the connection already; a value that does not fit is one row's fault; the rest is
// ours and stays without a kind.
func unavailable(err error) error {
	switch {
	case err == nil || fault.Of(err) != fault.Internal || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, sql.ErrConnDone), strings.Contains(err.Error(), "sql: database is closed"):
		return fault.Wrap(fault.Unavailable, err, "shardboard is being stopped.")
	case unscannable(err):
		return fault.Wrap(fault.Unavailable, err, "A row of the database cannot be read: it is not as shardboard wrote it. The log names the column.")
	}
	return err
}

// unscannable tells that a row's value is not of the type of its column.
func unscannable(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "sql: Scan error")
}
