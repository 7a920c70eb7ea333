package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// place is the path of the data directory and the identity of what was opened there. SQLite can
// write to files that were moved or deleted without noticing, but the next process looks at the
// path, so such writes would be lost. A comparison costs six system calls without disk reads (about
// 10 µs), so it is done around each write.
type place struct {
	dir    string      // absolute
	handle *os.File    // kept open so that no other directory gets its inode
	was    os.FileInfo // identity of handle
	files  map[string]os.FileInfo
}

// placeOf remembers a directory. remember adds its files once they are open.
func placeOf(dir string) (*place, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", dir, err)
	}
	handle, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open directory: %w", err)
	}
	was, err := handle.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look at directory: %w", err), handle.Close())
	}
	return &place{dir: dir, handle: handle, was: was, files: map[string]os.FileInfo{}}, nil
}

// remember adds an open file to those that moved checks.
func (p *place) remember(name string) error {
	info, err := os.Lstat(filepath.Join(p.dir, name))
	if err != nil {
		return fmt.Errorf("look at %s: %w", name, err)
	}
	p.files[name] = info
	return nil
}

// moved is an error when the path no longer leads to what was opened. Like opening, it follows a
// link in place of the directory; a link in place of a file is a different file.
func (p *place) moved() error {
	now, err := os.Stat(p.dir)
	switch {
	case absent(err):
		return &movedError{what: "The data directory", gone: true, cause: err}
	case err != nil:
		return &unseenError{err}
	case !os.SameFile(p.was, now):
		return &movedError{what: "The data directory", cause: fmt.Errorf("%s is not what it was when it was opened", p.dir)}
	}
	for name, was := range p.files {
		now, err := os.Lstat(filepath.Join(p.dir, name))
		switch {
		case absent(err):
			return &movedError{what: "The file " + name + " of the data directory", gone: true, cause: err}
		case err != nil:
			return &unseenError{err}
		case !os.SameFile(was, now):
			return &movedError{
				what:  "The file " + name + " of the data directory",
				cause: fmt.Errorf("%s in %s is not what it was when it was opened", name, p.dir),
			}
		}
	}
	return nil
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (p *place) close() error { return p.handle.Close() }

// movedError means that an open file or directory is no longer at its path.
type movedError struct {
	what  string
	gone  bool // nothing is there now; otherwise something else is
	cause error
}

func (e *movedError) Error() string { return e.cause.Error() }
func (e *movedError) Unwrap() error { return e.cause }

// unseenError means that the path could not be examined.
type unseenError struct{ cause error }

func (e *unseenError) Error() string { return e.cause.Error() }
func (e *unseenError) Unwrap() error { return e.cause }

// sentence explains the loss to people. It omits the path, because people who are not signed in can
// read it too; the log has it.
func sentence(err error, since time.Time) error {
	at := since.UTC().Format("15:04:05 UTC")
	err = fmt.Errorf("%w: %w", store.ErrLost, err)
	var m *movedError
	if errors.As(err, &m) {
		happened := "was replaced by another one"
		if m.gone {
			happened = "was moved or deleted"
		}
		return fault.Wrap(
			fault.Unavailable,
			err,
			"%s %s while shardboard was running (noticed at %s), so nothing can be stored, and what was stored shortly before may be lost. "+
				"Put the same one back (a copy is not the same), or restart shardboard.",
			m.what,
			happened,
			at,
		)
	}
	return fault.Wrap(fault.Unavailable, err,
		"The data directory cannot be examined (since %s), so nothing is stored, because it might be lost. The log has the cause. "+
			"shardboard tries again every few seconds.", at)
}
