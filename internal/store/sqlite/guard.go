package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
)

// A guard is a lock on a file beside the data directory, NAME.lock. The owner
// holds it for as long as it runs, even when the directory itself is moved or
// deleted, and its own lock with it. Without it, a second process would find a
// path with nothing at it, make a new directory, and be a second owner beside
// the first, which does not know yet that it has lost its own.
//
// It is a second line of defence: where the parent directory cannot be written,
// or the file is not ours, there is none, and the first process finds out by
// itself before each write (see place).
const guardSuffix = ".lock"

// errGuarded says that another process holds the guard.
var errGuarded = errors.New("another process holds the guard")

// takeGuard locks the guard of a directory, which need not exist. nil without an
// error: there can be none here.
func takeGuard(dir string) (*os.File, error) {
	path := guardPath(dir)
	if path == "" {
		return nil, nil
	}
	// No link is followed and nothing that is not a file of our own is trusted, so
	// that nobody else can keep us from starting by making one in a shared
	// directory such as /tmp.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, nil //nolint:nilerr // no guard is possible here
	}
	info, err := f.Stat()
	if err != nil || !ours(info) {
		return nil, f.Close()
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(errGuarded, guardedBy(f), f.Close())
		}
		return nil, f.Close() // a file system without locks
	}
	if !holdsNumber(f) {
		return nil, f.Close() // another program's, such as the yarn.lock beside a directory yarn
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(info, now) {
		_ = f.Close()
		return nil, errors.Join(errGuarded, errors.New("the guard was replaced while it was taken"))
	}
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		_ = f.Close()
		return nil, nil //nolint:nilerr // a full disk is told by the store itself
	}
	return f, nil
}

// guardPath is where the guard of a directory is; "" for one that has no parent.
// Links are followed, so that all names of one directory have one guard.
func guardPath(dir string) string {
	dir = filepath.Clean(dir) // without the slash that a shell puts at its end
	real, err := filepath.EvalSymlinks(dir)
	if err != nil { // it does not exist yet
		parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
		if err != nil {
			return ""
		}
		real = filepath.Join(parent, filepath.Base(dir))
	}
	if real, err = filepath.Abs(real); err != nil || filepath.Dir(real) == real {
		return ""
	}
	return real + guardSuffix
}

// ours tells whether a file is a regular one that belongs to who runs this, and
// has no other name: it will be written to.
func ours(info os.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && int(of.Uid) == os.Geteuid() && of.Nlink == 1
}

// holdsNumber tells whether a file has nothing in it but the number of a process, as
// a guard has. Anything else is not ours to write over.
func holdsNumber(f *os.File) bool {
	b := make([]byte, 32)
	n, err := f.ReadAt(b, 0)
	if err == nil || !errors.Is(err, io.EOF) {
		return false // longer than a number, or unreadable
	}
	text := strings.TrimSpace(string(b[:n]))
	return strings.Trim(text, "0123456789") == ""
}

// guardedBy names the process that wrote itself into a guard; nil when it cannot
// be read.
func guardedBy(f *os.File) error {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return nil //nolint:nilerr // only the number is missing then
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 0 {
		return &guardOwner{pid}
	}
	return nil
}

type guardOwner struct{ pid int }

func (o *guardOwner) Error() string { return fmt.Sprintf("held by process %d", o.pid) }

// ownership is what a process has of a data directory that is in order.
type ownership struct {
	path        string // without links
	notes       []string
	guard, lock *os.File // lock is nil when another process owns it; guard also where there can be none
}

// own takes the guard and then the directory's lock, and makes a directory that
// is missing, but not where the guard says that another process still uses the one
// that was there. words
// tells what an error of the system means, where that is known.
func own(dir string, words func(error) error) (o ownership, err error) {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if o.guard, err = takeGuardPatiently(dir); err != nil {
			return o, err
		}
	}
	if err := o.take(dir, words); err != nil {
		return o, errors.Join(err, release(o.lock), release(o.guard))
	}
	if o.lock == nil {
		err = release(o.guard)
		o.guard = nil
	}
	return o, err
}

func (o *ownership) take(dir string, words func(error) error) error {
	made, err := fileperm.OwnDir("data directory", dir)
	if err != nil {
		return cannot(words(err), "Cannot use or make the data directory %s: %v. Choose another with --data-dir.", dir, err)
	}
	o.path, o.notes = made.Path, made.Notes
	if o.guard == nil {
		if o.guard, err = takeGuardPatiently(dir); err != nil {
			return err
		}
	}
	if o.lock, err = acquirePatiently(filepath.Join(o.path, lockName)); err != nil {
		return cannot(words(err), "Cannot lock the data directory %s. Choose another with --data-dir.", dir)
	}
	return nil
}

// takeGuardPatiently is takeGuard, again while whoever has it may be starting or
// stopping. That the directory there is owned is no error: it will be read.
func takeGuardPatiently(dir string) (*os.File, error) {
	for try := 1; ; try++ {
		guard, err := takeGuard(dir)
		switch {
		case err == nil:
			return guard, nil
		case locked(filepath.Join(dir, lockName)):
			return nil, nil
		case try == lockTries:
			return nil, guardedError(dir, err)
		}
		time.Sleep(lockPause)
	}
}

// locked tells whether the lock file of a directory exists and is held.
func locked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return !free(f)
}

func guardedError(dir string, err error) error {
	who := "Another shardboard"
	var owner *guardOwner
	if errors.As(err, &owner) {
		who = fmt.Sprintf("Another shardboard (process %d)", owner.pid)
	}
	return fault.Wrap(fault.Conflict, err,
		"%s is still running with the data directory that was at %s before; it was moved or deleted. Nothing was made. Stop that process first, and put the directory back if it holds what you need; then start this one again.", who, dir)
}

func release(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}
