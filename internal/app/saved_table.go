package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// saveEvery is how often a changed routing table is saved at most, and how old the time of an unchanged one gets.
const saveEvery = 5 * time.Minute

// savedTable keeps the routing table of the cluster at one address as a file of the data directory, for the next start.
// The zero value keeps none: without a directory of its own, and with a store on MongoDB.
type savedTable struct {
	path  string
	owner bool // of the directory: only it writes
	log   *slog.Logger

	kept bool   // the file is there
	mark uint32 // history.SavedMark of what is in it
}

func (a *App) savedTableOf(n *instance, c ClusterConfig) savedTable {
	if a.config.DataDir == "" || !a.config.Store.IsZero() {
		return savedTable{}
	}
	name := "routing-" + hashOfHosts(c.URI.Hosts()) + ".table"
	return savedTable{path: filepath.Join(a.dir, name), owner: n.store.Owner(), log: c.Log}
}

// read is what was saved of the cluster of this id; nil for nothing that can be used, which the log tells.
func (s *savedTable) read(known string, grow func(bytes int64) (int64, bool)) *topology.Table {
	if s.path == "" {
		return nil
	}
	t, err := s.open(grow)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		s.log.Warn("the saved routing table is not used; the cluster is read instead", "file", s.path, "reason", fault.Text(err))
		return nil
	case t.ClusterID != known:
		s.log.Warn("the saved routing table is of another cluster than the one last seen at the address, so it is not used",
			"file", s.path, "saved", t.ClusterID, "cluster", known)
		return nil
	}
	s.mark, err = history.SavedMark(t)
	s.kept = err == nil
	return t
}

func (s *savedTable) open(grow func(bytes int64) (int64, bool)) (*topology.Table, error) {
	f, err := fileperm.OpenOwn("saved routing table", s.path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return history.ReadSaved(f, info.Size(), func(chunks int) error {
		if left, ok := grow(topology.ChunkBytes(chunks)); !ok {
			return fault.New(fault.Conflict, "It needs more memory than is left (%s).", format.Bytes(left))
		}
		return nil
	})
}

// run saves the table now and then if it has changed, and at the end.
func (s *savedTable) run(ctx context.Context, tables *topology.Watcher) error {
	if s.path == "" || !s.owner {
		return nil
	}
	_, changed, end := tables.Subscribe()
	defer end()
	for !tables.Table().Loaded {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
	end()
	failed := false
	for {
		err := s.save(tables.Table())
		if err != nil && !failed {
			s.log.Warn("the routing table is not saved; the next start reads the cluster before it shows something", "err", err)
		}
		failed = err != nil
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_ = clock.Sleep(ctx, saveEvery) // at the end it is saved once more
	}
}

// save writes the table if it is another one than the file has, else only its time.
func (s *savedTable) save(t *topology.Table) error {
	if t.ServerInfo.ClusterID == "" {
		return nil // it could not be told from another cluster's
	}
	at := t.Health[topology.PartRouting].At
	mark, err := history.SavedMark(t)
	switch {
	case err != nil:
	case s.kept && mark == s.mark:
		err = s.stamp(at)
	default:
		err = s.write(t, at)
	}
	s.mark, s.kept = mark, err == nil
	return err
}

// stamp writes the time as of which an unchanged table is.
func (s *savedTable) stamp(at time.Time) error {
	f, err := fileperm.OpenOwn("saved routing table", s.path, os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(history.SavedStamp(at), 0)
	return errors.Join(err, f.Close())
}

// write replaces the file.
func (s *savedTable) write(t *topology.Table, at time.Time) error {
	part := s.path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = history.WriteSaved(f, t, at); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		return os.Rename(part, s.path)
	}
	return errors.Join(err, os.Remove(part))
}
