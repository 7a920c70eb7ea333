package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// probe repeats what SQLite does, to get the system's own error: it checks access to the file and
// writes a page to a new file beside it. nil when all of it works. It does not open the database,
// because closing any descriptor of a file ends all the process's locks on it.
func probe(path string) error {
	if err := probeFiles(); err != nil {
		return err
	}
	const readAndWrite = 4 | 2 // R_OK and W_OK of access(2)
	if err := syscall.Access(path, readAndWrite); err != nil {
		return fmt.Errorf("probe: %w", &os.PathError{Op: "access", Path: path, Err: err})
	}
	tried, err := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	_, err = tried.Write(make([]byte, 4096))
	if err == nil {
		err = tried.Sync()
	}
	if err := errors.Join(err, tried.Close(), os.Remove(tried.Name())); err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	return nil
}

// probeFiles opens more files at once than SQLite needs for one connection.
func probeFiles() error {
	for range 8 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		defer f.Close()
	}
	return nil
}

// space returns the free bytes available to us and the size of a directory's file system.
func space(dir string) (free, size uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, fmt.Errorf("read the free space of %s: %w", dir, err)
	}
	unit := uint64(s.Bsize) // its type differs between systems; it is positive
	return s.Bavail * unit, s.Blocks * unit, nil
}

// bytesText formats a size for people.
func bytesText(n uint64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d bytes", n)
	}
	value, i := float64(n)/unit, 0
	for value >= unit && i < 4 {
		value, i = value/unit, i+1
	}
	return fmt.Sprintf("%.1f %s", value, [...]string{"KiB", "MiB", "GiB", "TiB", "PiB"}[i])
}
