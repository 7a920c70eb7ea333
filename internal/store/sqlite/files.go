package sqlite

import (
	"errors"
	"fmt"
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
// SQLite gives the files beside it, where every change is first, its mode. It
// closes the file before SQLite opens it, since closing one of a process's
// descriptors ends all its locks on the file.
func restrict(path string) error {
	f, err := fileperm.OpenOwn("database", path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return fmt.Errorf("restrict %s: %w", path, err)
	}
	return nil
}
