package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
	"shardboard/internal/store"
)

// OpenReader opens an existing store for reading. It creates nothing, takes no ownership and
// upgrades no schema, so a copy or the data of a running server can be read as it is. Only its
// owner may be able to write to it.
func OpenReader(ctx context.Context, dir string) (*DB, error) {
	at, err := fileperm.ReadDir("data directory", dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "There is no shardboard data in %s.", dir)
	}
	if err != nil {
		return nil, cannot(err, "Cannot read the data directory %s: %v.", dir, err)
	}
	path := filepath.Join(at.Path, FileName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "There is no shardboard data in %s.", dir)
	}
	db := &DB{
		notes:     at.Notes,
		file:      newFile(path, Options{}),
		writeLock: make(chan struct{}, 1),
		condition: newCondition(store.OwnedByAnother, store.ErrReadOnly),
	}
	check := func(what, path string) error { return fileperm.CheckRead(what, path, at) }
	if err := db.open(ctx, check); err != nil {
		err = auditFailure(err)
		return nil, errors.Join(cannot(err, "Cannot read the data in %s: %s", dir, fault.Text(err)), db.Close())
	}
	return db, nil
}
