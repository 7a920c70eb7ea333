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

// A guard is a lock on the file NAME.lock beside the data directory. The owner holds it as long as
// it runs, even if the directory is moved or deleted together with the lock inside it. Without the
// guard, a second process would find nothing at the path, create a new directory and become a
// second owner, while the first has not yet noticed that it lost its own.
//
// The guard is a second line of defence: where the parent directory cannot be written, or the file
// belongs to somebody else, there is none, and the first process detects the loss before each write
// (see place).
const guardSuffix = ".lock"

// errGuarded means that another process holds the guard.
var errGuarded = errors.New("another process holds the guard")

// takeGuard locks the guard of a directory, which need not exist. nil without an error: no guard is
// possible here.
func takeGuard(dir string) (*os.File, error) {
	path := guardPath(dir)
	if path == "" {
		return nil, nil
	}
	// Links are not followed and only our own regular files are used, so that nobody else can block
	// the start by creating one in a shared directory such as /tmp.
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
		return nil, f.Close() // belongs to another program, such as yarn.lock beside a directory yarn
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(info, now) {
		_ = f.Close()
		return nil, errors.Join(errGuarded, errors.New("the guard was replaced while it was taken"))
	}
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		_ = f.Close()
		return nil, nil // the store itself reports a full disk
	}
	return f, nil
}

// guardPath is the path of a directory's guard; "" for a directory without a parent. Links are
// followed, so that all names of one directory share a guard.
func guardPath(dir string) string {
	dir = filepath.Clean(dir) // without the trailing slash of shell completion
	real, err := filepath.EvalSymlinks(dir)
	if err != nil { // the directory does not exist yet
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

// ours reports whether a file is a regular file of this user without other hard links, because it
// will be written to.
func ours(info os.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && int(of.Uid) == os.Geteuid() && of.Nlink == 1
}

// holdsNumber reports whether a file is empty or contains only a process number, as a guard does.
// Anything else must not be overwritten.
func holdsNumber(f *os.File) bool {
	b := make([]byte, 32)
	n, err := f.ReadAt(b, 0)
	if err == nil || !errors.Is(err, io.EOF) {
		return false // longer than a number or unreadable
	}
	text := strings.TrimSpace(string(b[:n]))
	return strings.Trim(text, "0123456789") == ""
}

// guardedBy returns the process that holds a guard; nil when it cannot be read.
func guardedBy(f *os.File) error {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return nil // only the process number is missing then
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 0 {
		return &guardOwner{pid}
	}
	return nil
}

type guardOwner struct{ pid int }

func (o *guardOwner) Error() string { return fmt.Sprintf("held by process %d", o.pid) }

// ownership is what a process holds of a data directory.
type ownership struct {
	path        string // without links
	notes       []string
	guard, lock *os.File // lock is nil when another process owns the directory; guard also where none is possible
}

// own takes the guard and then the directory's lock. It creates a missing directory, unless the
// guard shows that another process still uses the directory that was there. words translates system
// errors.
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

// takeGuardPatiently retries takeGuard, because the holder may be starting or stopping. It is no
// error if the existing directory has an owner: it will be opened for reading.
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

// locked reports whether the lock file of a directory exists and is held.
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
		"%s is still running with the data directory that was at %s before; it was moved or deleted. No new directory was created. Stop "+
			"that process first, and put the directory back if it holds what you need; then start this one again.", who,
		dir)
}

func release(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}
