package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"shardboard/internal/fileperm"
)

// checkFile judges a file by its path; one that does not exist is in order.
type checkFile func(what, path string) error

// checkFiles judges all that SQLite opens for a database: a journal or a
// write-ahead log that somebody else put there would be read into it.
func checkFiles(path string, check checkFile) error {
	for _, f := range []struct{ what, end string }{
		{"database", ""}, {"write-ahead log", "-wal"}, {"shared memory of the database", "-shm"}, {"journal", "-journal"},
	} {
		if err := check(f.what, path+f.end); err != nil {
			return err
		}
	}
	return nil
}

// restrict makes the database its owner's alone before there is anything in it:
// SQLite gives the files beside it, where every change is first, its mode. One
// that exists was judged before and is not opened: closing one of a process's
// descriptors ends all its locks on the file, and when this process takes over
// from another one, its store that reads still has some.
func restrict(path string) error {
	f, err := fileperm.OpenOwn("database", path, os.O_CREATE|os.O_EXCL|os.O_RDWR)
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
