package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"shardboard/internal/fileperm"
)

// acquire takes the exclusive lock of a file until the file is closed; nil when another process has
// it. The system releases the lock when a process ends; the process number in the file is for
// people. Links are not followed, and nothing is written to a file that others can write.
func acquire(path string) (*os.File, error) {
	f, err := fileperm.OpenOwn("lock file", path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write lock: %w", err)
	}
	return f, nil
}

func writePID(f *os.File) error {
	_, err := fmt.Fprintf(f, "%d\n", os.Getpid())
	return err
}
