package sqlite

import (
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
)

// file is the database file as all its connections meet it: what is wrong with it,
// and since when. Safe for concurrent use.
type file struct {
	path        string
	uid         int
	wait        time.Duration // for a lock
	alreadyOpen bool          // this process has it open already
	readOnly    bool          // and never writes: what passes by itself has ended when a read works
	log         *slog.Logger
	before      func(statement string) error // nil but in tests
	probe       func(path string) error
	space       func(dir string) (free, size uint64, err error)

	mu         sync.Mutex
	now        *store.Trouble             // nil: none
	unreadable map[string]map[string]bool // rows by table

	opened bool // before that, who opens it tells what is wrong, and the program ends
}

func newFile(path string, o Options) *file {
	f := &file{path: path, uid: os.Getuid(), alreadyOpen: o.AlreadyOpen, log: o.Log, before: o.Before, probe: probe, space: space}
	if f.wait = o.lockWait; f.wait == 0 {
		f.wait = lockWait
	}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	return f
}

// failed is what a caller gets for an error of the driver or the system: in words
// when the file is the cause, else as it is. The trouble is remembered.
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

// meet remembers a trouble. One that lasts hides those that pass.
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
		f.log.Error("the database has trouble", "trouble", string(t.Code), "file", f.path, "what", t.Cause, "remedy", t.Remedy, "err", err)
	}
	f.now = &t
	return t
}

// open begins to tell trouble to the log.
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

// worked ends a trouble that passes.
func (f *file) worked() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now != nil && !f.now.Lasting() {
		f.log.Info("the database works again", "trouble", string(f.now.Code), "file", f.path, "since", f.now.Since)
		f.now = nil
	}
}

// damaged is the damage that forbids to write: what is written into a damaged file
// can destroy what could still be saved. nil when there is none.
func (f *file) damaged() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now == nil || f.now.Code != store.TroubleDamaged {
		return nil
	}
	return f.now.Failed(errors.New("nothing is written into a damaged file"))
}

// Trouble is what is wrong with the database now; nil when nothing is known to be.
// While the directory is lost, what would pass by itself is not told beside that.
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
