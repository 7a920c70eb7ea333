package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"shardboard/internal/fileperm"
)

// acquire takes the exclusive lock of a file and keeps it as long as the file
// is open. It gives nil when another process has it. The file says who, for
// people; the lock itself is the system's and cannot be left behind. A link is not
// followed and nothing is written to a file that is not ours alone.
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
