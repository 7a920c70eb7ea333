package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/archive"
	"shardboard/internal/store/mongodb"
	"shardboard/internal/store/sqlite"
)

// StorePlace is where a store is: in a directory, or in a database.
type StorePlace struct {
	Dir     string
	Address StoreAddress
}

// ReadStorePlace takes a directory or an address, or a file that holds an address. what is the name of
// the flag, such as "from".
func ReadStorePlace(what, text, file string) (StorePlace, error) {
	switch {
	case (text == "") == (file == ""):
		return StorePlace{}, fault.New(fault.Invalid,
			"Say --%[1]s with a data directory or a mongodb:// address, or --%[1]s-file with a file that holds the address.", what)
	case file != "":
		at, err := mongodb.ReadAddress(file)
		return StorePlace{Address: at}, err
	case mongodb.IsAddress(text):
		at, err := mongodb.ParseAddress(text)
		return StorePlace{Address: at}, err
	case strings.Contains(text, "://"):
		return StorePlace{}, fault.New(fault.Invalid, "The value of --%s is neither a directory nor a mongodb:// address.", what)
	}
	dir, err := filepath.Abs(text)
	return StorePlace{Dir: dir}, err
}

// StoreCount is how many rows of a kind were copied.
type StoreCount = archive.Count

// CopyStore copies everything from one store into another, which must be empty. Nobody may have either
// of them open.
func CopyStore(ctx context.Context, from, to StorePlace, log *slog.Logger) (counts []StoreCount, err error) {
	if from.Dir == to.Dir && from.Address.String() == to.Address.String() {
		return nil, fault.New(fault.Invalid, "Both names are of the same store.")
	}
	err = from.with(ctx, usedAlone|mustExist, log, func(source store.RowStore) error {
		return to.with(ctx, usedAlone, log, func(target store.RowStore) error {
			counts, err = archive.Copy(ctx, source, target)
			return err
		})
	})
	return counts, err
}

// BackupStore writes a store into a new file. Servers may use the store meanwhile. by is what the file
// says about who wrote it.
func BackupStore(ctx context.Context, from StorePlace, file, by string, log *slog.Logger) (counts []StoreCount, err error) {
	err = from.with(ctx, mustExist, log, func(source store.RowStore) error {
		counts, err = archive.Backup(ctx, source, file, by)
		return err
	})
	return counts, err
}

// RestoreStore loads a backup into an empty store, which nobody may have open.
func RestoreStore(ctx context.Context, file string, to StorePlace, log *slog.Logger) (counts []StoreCount, err error) {
	checked, err := archive.Check(ctx, file) // before a directory or a database is made
	if err != nil {
		return nil, err
	}
	err = to.with(ctx, usedAlone, log, func(target store.RowStore) error {
		counts, err = archive.Restore(ctx, checked, target)
		return err
	})
	return counts, err
}

// openMode says how a store is opened.
type openMode int

const (
	usedAlone openMode = 1 << iota // as its owner or leader; else only to read
	mustExist
)

// with opens a store, calls f and closes it.
func (p StorePlace) with(ctx context.Context, mode openMode, log *slog.Logger, f func(store.RowStore) error) error {
	db, err := p.open(ctx, mode, log)
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}

func (p StorePlace) open(ctx context.Context, mode openMode, log *slog.Logger) (store.RowStore, error) {
	if !p.Address.IsZero() {
		return asRowStore(mongodb.Open(ctx, p.Address,
			mongodb.Options{Log: log, Follow: mode&usedAlone == 0, MustExist: mode&mustExist != 0}))
	}
	if mode&usedAlone == 0 {
		return asRowStore(sqlite.OpenReader(ctx, p.Dir))
	}
	if mode&mustExist != 0 {
		if _, err := os.Lstat(filepath.Join(p.Dir, sqlite.FileName)); err != nil {
			return nil, fault.Wrap(fault.NotFound, err, "There is no shardboard data in %s.", p.Dir)
		}
	}
	return asRowStore(sqlite.OpenWith(ctx, p.Dir, sqlite.Options{Log: log}))
}

// asRowStore keeps a nil pointer from becoming an interface that is not nil.
func asRowStore[S store.RowStore](s S, err error) (store.RowStore, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
