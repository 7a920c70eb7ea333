package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"shardboard/internal/fault"
	"shardboard/internal/store/sqlite"
)

// DefaultDataDir is the default data directory: $XDG_STATE_HOME/shardboard, else
// ~/.local/state/shardboard.
func DefaultDataDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "shardboard"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "There is no home directory to keep data in. Say where with --data-dir.")
	}
	return filepath.Join(home, ".local", "state", "shardboard"), nil
}

// openData opens the store. Without a configured directory it makes a temporary one and removes it
// at the end.
func (a *App) openData(ctx context.Context) (*sqlite.DB, error) {
	if a.dir = a.config.DataDir; a.dir == "" {
		temporary, err := os.MkdirTemp("", "shardboard-")
		if err != nil {
			return nil, fault.Wrap(
				fault.Unavailable,
				fmt.Errorf("make temporary directory: %w", err),
				"Cannot make a temporary directory for data. Set TMPDIR to one that can be written.",
			)
		}
		a.cleanup.push("temporary data", func(context.Context) error { return os.RemoveAll(temporary) })
		a.dir = filepath.Join(temporary, "data") // a subdirectory, because the lock file is beside it
	}
	db, err := sqlite.OpenWith(ctx, a.dir, sqlite.Options{Log: a.log})
	if err != nil {
		return nil, err
	}
	for _, note := range db.Notes() {
		a.log.Warn(note)
	}
	if !db.Owner() {
		a.log.Warn("another shardboard owns the data directory: this one only reads", "dir", a.dir)
	}
	return db, nil
}

// ReadOnly reports whether another process owns the data directory.
func (a *App) ReadOnly() bool { return !a.current().store.Owner() }
