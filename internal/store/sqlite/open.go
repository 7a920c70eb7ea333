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
	path  string
	file  os.FileInfo // the database file as it was opened

	turn    chan struct{} // holds one token while a change is made
	written written
}

var _ store.Store = (*DB)(nil)

// Open opens or makes the store in a directory, which only its owner may read.
// When another process owns it, the store opens for reading, and Owner is false.
func Open(ctx context.Context, dir string) (*DB, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "Cannot make the data directory %s. Choose another with --data-dir.", dir)
	}
	lock, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "Cannot lock the data directory %s. Choose another with --data-dir.", dir)
	}
	db := &DB{lock: lock, turn: make(chan struct{}, 1)}
	if err := db.open(ctx, filepath.Join(dir, fileName)); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Unavailable, err, "Cannot open the data in %s: %s", dir, fault.Text(auditFailure(err))), db.Close())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, path string) error {
	if db.lock != nil {
		if err := restrict(path); err != nil {
			return err
		}
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
