// Package sqlite implements the store in one SQLite file. One process owns it, by a lock on a file
// beside it that the system releases when the process ends for any reason; other processes read.
// Writes go through one connection with journal_mode=WAL and synchronous=FULL, so a committed
// change survives a power cut. The schema is only ever upgraded.
package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
	"shardboard/internal/store"
	"shardboard/internal/store/records"
)

const (
	FileName = "shardboard.db" // the database in a data directory
	lockName = "shardboard.lock"
	readers  = 4 // reading connections, besides the writing and the pinned one
)

// DB is a store in a directory.
type DB struct {
	records.Records

	id     string  // of this opening
	write  *sql.DB // one connection; nil when read only
	read   *sql.DB
	pinned *sql.Conn // connection of read: while it is open, SQLite never recreates the WAL files
	lock   *os.File  // nil when read only
	guard  *os.File  // nil when read only or where no guard is possible
	notes  []string
	file   *file // problems of the file, shared by all connections

	place     *place   // nil for OpenReader
	probe     *os.File // lock file of the owner; nil when this process owns the data
	condition *condition

	writeLock chan struct{} // write lock: holds a token during a change
	written   written

	checked atomic.Bool // all pages were checked since the start
}

var _ store.Database = (*DB)(nil)

// Opening is the id of this opening.
func (db *DB) Opening() string { return db.id }

// Living is this opening alone: no other process can own the data.
func (db *DB) Living(context.Context) ([]string, error) { return []string{db.id}, nil }

// Open opens or creates the store in a directory that nobody else may write to or replace (package
// fileperm). When another process owns it, the store is read-only and Owner is false.
func Open(ctx context.Context, dir string) (*DB, error) { return OpenWith(ctx, dir, Options{}) }

// OpenWith is Open with options.
func OpenWith(ctx context.Context, dir string, o Options) (*DB, error) {
	f := newFile(filepath.Join(dir, FileName), o)
	held, err := own(dir, f.failed)
	if err != nil {
		return nil, err
	}
	f.path = filepath.Join(held.path, FileName)
	db := &DB{
		id:        rand.Text(),
		guard:     held.guard,
		lock:      held.lock,
		notes:     held.notes,
		file:      f,
		writeLock: make(chan struct{}, 1),
		condition: newCondition(store.Owned, nil),
	}
	if db.lock == nil {
		db.condition, f.readOnly = newCondition(store.OwnedByAnother, store.ErrReadOnly), true
	}
	if db.place, err = placeOf(dir); err != nil {
		return nil, errors.Join(cannot(f.failed(err), "Cannot open the data directory %s: %v.", dir, err), db.Close())
	}
	if err := db.open(ctx, fileperm.CheckOwn); err != nil {
		return nil, errors.Join(cannot(err, "Cannot open the data in %s: %s", dir, fault.Text(err)), db.Close())
	}
	if err := db.watchPlace(ctx, dir); err != nil {
		return nil, errors.Join(cannot(err, "The data directory %s changed while it was opened. Start again.", dir), db.Close())
	}
	return db, nil
}

// cannot adds a sentence to a failure to open. Errors with a remedy keep theirs.
func cannot(err error, format string, args ...any) error {
	if _, known := store.TroubleOf(err); known || fault.Of(err) == fault.Invalid {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, format, args...)
}

// open opens the database. SQLite opens files by path repeatedly, so check examines each of them
// before and after.
func (db *DB) open(ctx context.Context, check checkFile) error {
	f := db.file
	if err := checkFiles(f.path, check); err != nil {
		return f.failed(err)
	}
	isNew, err := f.recognise(ctx)
	if err != nil {
		return err
	}
	if db.lock != nil {
		if err := restrict(f.path); err != nil {
			return f.failed(err)
		}
	}
	was, err := os.Lstat(f.path)
	if err != nil {
		return f.failed(err)
	}
	if err := db.connect(ctx, isNew); err != nil {
		return err
	}
	if err := fileperm.Same("database", f.path, was); err != nil {
		return f.failed(err)
	}
	if db.write != nil {
		db.readAuditEnd(ctx)
	}
	f.open()
	return checkFiles(f.path, check)
}

func (db *DB) connect(ctx context.Context, isNew bool) (err error) {
	f := db.file
	if db.lock != nil {
		if err := db.upgrade(ctx, isNew); err != nil {
			return err
		}
	}
	if db.read, err = f.connect("ro", readers+1, db.notLost); err != nil {
		return err
	}
	db.Records = records.On(tables{reader{db, db.read}})
	if err := db.read.PingContext(ctx); err != nil {
		return fmt.Errorf("open %s for reading: %w", f.path, err)
	}
	if err := checkVersion(ctx, db.read); err != nil {
		return err
	}
	return f.complete(ctx, db.read)
}

// upgrade opens the file for writing and upgrades its tables. It checks the pages first, because a
// write into a damaged file can destroy what could still be saved.
func (db *DB) upgrade(ctx context.Context, isNew bool) (err error) {
	f := db.file
	if db.write, err = f.connect("rwc", 1, db.notLost); err != nil {
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

// watchPlace remembers the open files, for Writable and Watch.
func (db *DB) watchPlace(ctx context.Context, dir string) (err error) {
	if err := warm(ctx, db.read, readers+1); err != nil {
		return err
	}
	names := []string{lockName, FileName}
	if db.write != nil {
		if db.pinned, err = db.read.Conn(ctx); err != nil {
			return err
		}
		names = append(names, FileName+"-wal", FileName+"-shm") // each change goes to the first of them first
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
	// The locked file must be the one at the path: it may have been replaced meanwhile.
	if db.lock != nil {
		held, err := db.lock.Stat()
		if err != nil {
			return err
		}
		db.place.files[lockName] = held
	}
	return db.place.moved()
}

// Owner reports whether this process may write.
func (db *DB) Owner() bool { return db.write != nil }

// Leads is Owner: the data directory is not shared.
func (db *DB) Leads() bool { return db.Owner() }

// Lead calls work once if this process owns the directory.
func (db *DB) Lead(ctx context.Context, work func(context.Context) error) error {
	return store.LeadAlways(ctx, db.Owner(), work)
}

// ConfirmLead is nil while this process may write.
func (db *DB) ConfirmLead(context.Context) error { return db.Writable() }

// Leader is this process if it owns the directory. The name of another owner is not known.
func (db *DB) Leader() store.Leader {
	if !db.Owner() {
		return store.Leader{}
	}
	return store.Leader{Here: true, Name: store.ProcessName(), Since: db.condition.opened}
}

// Place is the data directory.
func (db *DB) Place() string { return filepath.Dir(db.file.path) }

// Notes are log messages about what was changed or tolerated in the directory.
func (db *DB) Notes() []string { return db.notes }

// Close closes the store and releases the ownership.
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
	// The guard is released last, so that a process that waits for it finds the directory's lock
	// free.
	for _, f := range []*os.File{db.probe, db.lock, db.guard} {
		errs = append(errs, release(f))
	}
	return errors.Join(errs...)
}

// change runs f in a transaction of the writing connection and commits when f returns no error;
// nobody else changes what f reads. The files are checked before, so that nothing starts in a
// directory that was moved, and after the commit, so that nothing counts as stored that the next
// process would not find.
func (db *DB) change(ctx context.Context, f func(*sql.Tx) error) error {
	if err := db.lockWrites(ctx); err != nil {
		return unavailable(err)
	}
	defer db.unlockWrites()
	if err := db.Writable(); err != nil {
		return err
	}
	if err := db.file.damaged(); err != nil {
		return err
	}
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
		return fault.Wrap(fault.UnknownOutcome, err, "It is not known whether this was stored: %s", fault.Text(err))
	}
	return nil
}

// unavailable classifies a failure to read or write. The connection has already explained problems
// of the file; a value of a wrong type concerns one row; other errors are bugs of ours and stay
// unclassified.
func unavailable(err error) error {
	switch {
	case err == nil || fault.Of(err) != fault.Internal || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, sql.ErrConnDone), strings.Contains(err.Error(), "sql: database is closed"):
		return fault.Wrap(fault.Unavailable, err, "shardboard is being stopped.")
	case unscannable(err):
		return fault.Wrap(fault.Unavailable, err, "A row of the database has a value that shardboard did not write. The log names the column.")
	}
	return err
}

// unscannable reports whether a value has another type than its column.
func unscannable(err error) bool {
	return err != nil && (errors.Is(err, errOtherType) || strings.HasPrefix(err.Error(), "sql: Scan error"))
}
