package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"shardboard/internal/fileperm"
)

// checkFile checks a file by its path; a missing file is in order.
type checkFile func(what, path string) error

// checkFiles checks all files that SQLite opens for a database: SQLite would apply a journal or
// write-ahead log that somebody else put there.
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

// restrict gives the database mode 0600 before it has content; SQLite gives the same mode to the
// files beside it. An existing file was checked before and is not opened here: closing any
// descriptor of it would end this process's locks on it, which matters when this process takes over
// while its read-only store is open.
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
