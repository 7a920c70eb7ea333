package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/records"
)

// file is the database file shared by all connections: its current problem and unreadable rows.
// Safe for concurrent use.
type file struct {
	path        string
	uid         int
	wait        time.Duration // longest wait for a lock
	alreadyOpen bool          // this process has the file open already
	readOnly    bool          // read-only: a temporary problem has ended when a read works
	log         *slog.Logger
	before      func(statement string) error // set only by tests
	probe       func(path string) error
	space       func(dir string) (free, size uint64, err error)

	unreadable records.Unreadable

	mu  sync.Mutex
	now *store.Trouble // current problem; nil: none

	opened bool // false during opening: the caller reports problems, and the program ends
}

func newFile(path string, o Options) *file {
	f := &file{path: path, uid: os.Getuid(), alreadyOpen: o.AlreadyOpen, log: o.Log, before: o.Before, probe: probe, space: space}
	if f.wait = o.lockWait; f.wait == 0 {
		f.wait = lockWait
	}
	f.log = cmp.Or(f.log, slog.New(slog.DiscardHandler))
	return f
}

// failed translates an error of the driver or the system: into a sentence when the file is the
// cause, else unchanged. It remembers the problem.
func (f *file) failed(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, io.EOF) || errors.Is(err, driver.ErrSkip) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	t, ok := f.troubleOf(err)
	if !ok {
		return err
	}
	return f.meet(t, err).Failed(err)
}

// meet remembers a problem. A lasting one is not replaced by a temporary one.
func (f *file) meet(t store.Trouble, err error) store.Trouble {
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Since = time.Now().UTC()
	switch {
	case f.now != nil && f.now.Code == t.Code:
		t.Since = f.now.Since
	case f.now != nil && f.now.Lasting() && !t.Lasting():
		return t
	case !f.opened:
	default:
		f.log.Error("the database cannot be used", "trouble", string(t.Code), "file", f.path, "what", t.Cause, "remedy", t.Remedy, "err", err)
	}
	f.now = &t
	return t
}

// open makes problems appear in the log from now on.
func (f *file) open() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened = true
}

func (f *file) isOpen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened
}

// worked clears a temporary problem.
func (f *file) worked() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now != nil && !f.now.Lasting() {
		f.log.Info("the database works again", "trouble", string(f.now.Code), "file", f.path, "since", f.now.Since)
		f.now = nil
	}
}

// damaged is the error that stops writes to a damaged file, which could destroy what can still be
// saved; nil when the file is not damaged.
func (f *file) damaged() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now == nil || f.now.Code != store.TroubleDamaged {
		return nil
	}
	return f.now.Failed(errors.New("nothing is written into a damaged file"))
}

// Trouble is the database's current problem; nil when none is known. While the directory is lost,
// temporary problems are not reported too.
func (db *DB) Trouble() *store.Trouble {
	if db.file == nil {
		return nil
	}
	lost := db.Condition().Lost()
	db.file.mu.Lock()
	defer db.file.mu.Unlock()
	if db.file.now == nil || lost && !db.file.now.Lasting() {
		return nil
	}
	t := *db.file.now
	return &t
}
