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
	"io/fs"
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
	readers  = 4 // connections that read beside the one that writes, and the pinned one
)

// DB is a store in a directory.
type DB struct {
	write  *sql.DB // one connection; nil when read only
	read   *sql.DB
	pinned *sql.Conn // of read: while it is open, SQLite never makes the files beside the database anew
	lock   *os.File  // nil when read only
	guard  *os.File  // nil when read only, or where there can be none

	place     *place   // nil in what OpenReader gives
	probe     *os.File // the lock file of another process's directory; nil when we own it
	condition *condition
}

var _ store.Store = (*DB)(nil)

// Open opens or makes the store in a directory, which only its owner may read.
// When another process owns it, the store opens for reading, and Owner is false.
func Open(ctx context.Context, dir string) (*DB, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "Cannot find the data directory %s. Give a path that begins with / by --data-dir.", dir)
	}
	guard, lock, err := own(dir)
	if err != nil {
		return nil, err
	}
	db := &DB{guard: guard, lock: lock, condition: newCondition(store.Owned, nil)}
	if db.lock == nil {
		db.condition = newCondition(store.OwnedByAnother, store.ErrReadOnly)
	}
	if db.place, err = placeOf(dir); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Unavailable, err, "Cannot open the data directory %s.", dir), db.Close())
	}
	if err := db.open(ctx, filepath.Join(dir, fileName)); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Unavailable, err, "Cannot open the data in %s: %s", dir, fault.Text(err)), db.Close())
	}
	if err := db.watchPlace(ctx, dir); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Unavailable, err, "The data directory %s changed while it was opened. Start again.", dir), db.Close())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, path string) error {
	if db.lock != nil {
		if err := restrict(path); err != nil {
			return err
		}
		w, err := db.connect(path, "rwc", 1)
		if err != nil {
			return err
		}
		db.write = w
		if err := migrate(ctx, w); err != nil {
			return err
		}
	}
	r, err := db.connect(path, "ro", readers+1)
	if err != nil {
		return err
	}
	db.read = r
	if err := r.PingContext(ctx); err != nil {
		return fmt.Errorf("open %s for reading: %w", path, err)
	}
	return checkVersion(ctx, r)
}

// restrict makes the file its owner's alone before there is anything in it:
// SQLite gives the files beside it, where every change is first, its mode. A file
// that is there is never opened: to close it would drop the locks that another
// store of this process has on it, which SQLite does not notice.
func restrict(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		err = os.Chmod(path, 0o600)
	case err == nil:
		err = errors.Join(f.Chmod(0o600), f.Close())
	default:
		return fmt.Errorf("make %s: %w", path, err)
	}
	if err != nil {
		return fmt.Errorf("restrict %s: %w", path, err)
	}
	return nil
}

// connect names every setting in the address, so that each connection of the
// pool has them.
func (db *DB) connect(path, mode string, connections int) (*sql.DB, error) {
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(5000)", "foreign_keys(1)"}}
	if mode != "ro" {
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)", "synchronous(FULL)")
		q.Set("_txlock", "immediate")
	}
	name := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	found, err := sql.Open("sqlite", name) // connects to nothing
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	pool := sql.OpenDB(&connector{driver: found.Driver(), name: name, check: db.inPlace})
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, found.Close()
}

// watchPlace notes what was opened, for Writable and Watch.
func (db *DB) watchPlace(ctx context.Context, dir string) (err error) {
	if err := warm(ctx, db.read, readers+1); err != nil {
		return err
	}
	names := []string{lockName, fileName}
	if db.write != nil {
		if db.pinned, err = db.read.Conn(ctx); err != nil {
			return err
		}
		names = append(names, fileName+"-wal", fileName+"-shm") // every change is in the first of them first
	} else {
		if db.probe, err = os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := db.place.remember(name); err != nil {
			return err
		}
	}
	// What is locked must be what is at the path: it may have been replaced meanwhile.
	if db.lock != nil {
		held, err := db.lock.Stat()
		if err != nil {
			return err
		}
		db.place.files[lockName] = held
	}
	return db.place.moved()
}

// Owner tells whether this process may write.
func (db *DB) Owner() bool { return db.write != nil }

// Close ends all use and gives up the ownership.
func (db *DB) Close() error {
	var errs []error
	if db.pinned != nil {
		errs = append(errs, db.pinned.Close())
	}
	for _, d := range []*sql.DB{db.read, db.write} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	if db.place != nil {
		errs = append(errs, db.place.close())
	}
	// The guard last: who waits for it finds the directory's lock free.
	for _, f := range []*os.File{db.probe, db.lock, db.guard} {
		errs = append(errs, release(f))
	}
	return errors.Join(errs...)
}

// change runs f in a transaction of the one connection that writes. It is
// committed when f gives no error; what f read is not changed by anybody else
// in between. The files are looked at before, so that nothing is begun in a
// directory that was moved, and after the commit, so that nothing counts as
// stored that the next process would not find.
func (db *DB) change(ctx context.Context, f func(*sql.Tx) error) error {
	if err := db.Writable(); err != nil {
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
	if err := db.Writable(); err != nil {
		return fault.Wrap(fault.UnknownOutcome, err, "Whether this was stored is not known: %s", fault.Text(err))
	}
	return nil
}

// unavailable is a failure of the file itself.
func unavailable(err error) error {
	if err == nil || fault.Of(err) != fault.Internal {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "The data directory cannot be used now: the disk may be full or gone. The log has the cause.")
}
