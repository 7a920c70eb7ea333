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
	readers  = 4 // connections that read beside the one that writes, and the pinned one
)

// DB is a store in a directory.
type DB struct {
	write  *sql.DB // one connection; nil when read only
	read   *sql.DB
	pinned *sql.Conn // of read: while it is open, SQLite never makes the files beside the database anew
	lock   *os.File  // nil when read only
	guard  *os.File  // nil when read only, or where there can be none
	notes  []string
	path   string
	file   os.FileInfo // the database file as it was opened

	place     *place   // nil in what OpenReader gives
	probe     *os.File // the lock file of another process's directory; nil when we own it
	condition *condition

	turn    chan struct{} // holds one token while a change is made
	written written
}

var _ store.Store = (*DB)(nil)

// Open opens or makes the store in a directory that nobody else may write to or
// replace (package fileperm). When another process owns it, the store opens for
// reading, and Owner is false.
func Open(ctx context.Context, dir string) (*DB, error) {
	held, err := own(dir)
	if err != nil {
		return nil, err
	}
	db := &DB{guard: held.guard, lock: held.lock, notes: held.notes, turn: make(chan struct{}, 1), condition: newCondition(store.Owned, nil)}
	if db.lock == nil {
		db.condition = newCondition(store.OwnedByAnother, store.ErrReadOnly)
	}
	if db.place, err = placeOf(dir); err != nil {
		return nil, errors.Join(classify(err, "Cannot open the data directory %s: %v.", dir, err), db.Close())
	}
	if err := db.open(ctx, filepath.Join(held.path, fileName), fileperm.CheckOwn); err != nil {
		err = auditFailure(err)
		return nil, errors.Join(classify(err, "Cannot open the data in %s: %s", dir, fault.Text(err)), db.Close())
	}
	if err := db.watchPlace(ctx, dir); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Unavailable, err, "The data directory %s changed while it was opened. Start again.", dir), db.Close())
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
		w, err := db.pool(path, "rwc", 1)
		if err != nil {
			return err
		}
		db.write = w
		if err := migrate(ctx, w); err != nil {
			return err
		}
	}
	r, err := db.pool(path, "ro", readers+1)
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

// pool names every setting in the address, so that each connection of the pool
// has them.
func (db *DB) pool(path, mode string, connections int) (*sql.DB, error) {
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
	pool := sql.OpenDB(&connector{driver: found.Driver(), name: name, check: db.notLost})
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
		if db.probe, err = fileperm.OpenOwn("lock file", filepath.Join(dir, lockName), os.O_RDWR); err != nil {
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

// Notes say what was changed at the directory, or accepted there and should be
// known: for the log.
func (db *DB) Notes() []string { return db.notes }

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
	if err != nil {
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
