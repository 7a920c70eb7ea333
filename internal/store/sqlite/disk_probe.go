package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// probe does to the directory what SQLite does, for the system's own answer: asks
// whether the file may be read and written, and writes as much as a page to a new
// one beside it. nil when all of it works. The database is not opened: closing one
// of a process's descriptors would end all its locks on the file.
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

// probeFiles opens as many files at once as SQLite does for one connection, and some.
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

// space tells how many bytes a directory's file system has left for us, and has.
func space(dir string) (free, size uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, fmt.Errorf("read the free space of %s: %w", dir, err)
	}
	unit := uint64(s.Bsize) //nolint:gosec,unconvert // its type differs by system, and it is positive
	return s.Bavail * unit, s.Blocks * unit, nil
}

// bytesText is a size as people read it.
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
