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

	_ "modernc.org/sqlite" // the driver "sqlite"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
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
	notes []string
	path  string
	file  os.FileInfo // the database file as it was opened

	turn    chan struct{} // holds one token while a change is made
	written written
}

var _ store.Store = (*DB)(nil)

// Open opens or makes the store in a directory that nobody else may write to or
// replace (package fileperm). When another process owns it, the store opens for
// reading, and Owner is false.
func Open(ctx context.Context, dir string) (*DB, error) {
	own, err := fileperm.OwnDir("data directory", dir)
	if err != nil {
		return nil, classify(err, "Cannot use or make the data directory %s: %v. Choose another with --data-dir.", dir, err)
	}
	lock, err := acquire(filepath.Join(own.Path, lockName))
	if err != nil {
		return nil, classify(err, "Cannot lock the data directory %s. Choose another with --data-dir.", dir)
	}
	db := &DB{lock: lock, notes: own.Notes, turn: make(chan struct{}, 1)}
	if err := db.open(ctx, filepath.Join(own.Path, fileName), fileperm.CheckOwn); err != nil {
		err = auditFailure(err)
		return nil, errors.Join(classify(err, "Cannot open the data in %s: %s", dir, fault.Text(err)), db.Close())
	}
	return db, nil
}

// classify leaves a refusal as it is: it says what to do.
func classify(err error, format string, args ...any) error {
	if fault.Of(err) == fault.Invalid {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, format, args...)
}

// open opens the database. SQLite opens files by their paths, again and again;
// check says for each of them whether it is one to be used, before and after.
func (db *DB) open(ctx context.Context, path string, check checkFile) error {
	if err := checkFiles(path, check); err != nil {
		return err
	}
	if db.lock != nil {
		if err := restrict(path); err != nil {
			return err
		}
	}
	was, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if err := db.connect(ctx, path); err != nil {
		return err
	}
	if err := fileperm.Same("database", path, was); err != nil {
		return err
	}
	return checkFiles(path, check)
}

func (db *DB) connect(ctx context.Context, path string) error {
	if db.lock != nil {
		w, err := connect(path, "rwc", 1)
		if err != nil {
			return err
		}
		db.write = w
		if err := migrate(ctx, w); err != nil {
			return err
		}
	}
	r, err := connect(path, "ro", readers)
	if err != nil {
		return err
	}
	db.read = r
	if err := r.PingContext(ctx); err != nil {
		return fmt.Errorf("open %s for reading: %w", path, err)
	}
	if err := checkVersion(ctx, r); err != nil {
		return err
	}
	if db.file, err = os.Stat(path); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	db.path = path
	if db.write != nil {
		db.begun(ctx)
	}
	return nil
}

// connect names every setting in the address, so that each connection of the
// pool has them.
func connect(path, mode string, connections int) (*sql.DB, error) {
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(5000)", "foreign_keys(1)"}}
	if mode != "ro" {
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)", "synchronous(FULL)")
		q.Set("_txlock", "immediate")
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Owner tells whether this process may write.
func (db *DB) Owner() bool { return db.write != nil }

// Notes say what was changed at the directory, or accepted there and should be
// known: for the log.
func (db *DB) Notes() []string { return db.notes }

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
	if err := db.enter(ctx); err != nil {
		return unavailable(err)
	}
	defer db.leave()
	db.written.pending = nil
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return unavailable(err)
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if err := f(tx); err != nil {
		return err
	}
	err = tx.Commit()
	db.written.commit(err != nil)
	return unavailable(err)
}

// unavailable is a failure of the file itself.
func unavailable(err error) error {
	if err == nil || fault.Of(err) != fault.Internal {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "The data directory cannot be used now: the disk may be full or gone. The log has the cause.")
}
