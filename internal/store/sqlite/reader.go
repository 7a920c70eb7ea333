package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"shardboard/internal/fault"
)

// OpenReader opens a store that exists for reading only: it makes nothing,
// takes no ownership and moves no schema, so that a copy or the data of a
// running server can be looked at as it is.
func OpenReader(ctx context.Context, dir string) (*DB, error) {
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "There is no shardboard data in %s.", dir)
	}
	db := &DB{file: newFile(path, Options{})}
	if err := db.open(ctx); err != nil {
		return nil, errors.Join(cannot(err, "Cannot read the data in %s: %s", dir, fault.Text(err)), db.Close())
	}
	return db, nil
}
