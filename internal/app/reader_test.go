package app

import (
	"log/slog"
	"testing"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store/sqlite"
)

// All openings of a data directory are of one installation; one that only reads it is of none.
func TestReadersOfADataDirectoryAreOfOneInstallation(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	read := func(dir string, beside func()) cluster.Reader {
		db := must.Get(sqlite.Open(t.Context(), dir))
		defer func() { _ = db.Close() }()
		beside()
		return readerOf(t.Context(), db, log)
	}
	dir, none := t.TempDir()+"/data", func() {}
	first := read(dir, func() {
		expect.Equal(t, read(dir, none), cluster.Reader{}, "a process that does not own the data")
	})
	again, elsewhere := read(dir, none), read(t.TempDir()+"/data", none)
	expect.That(t, first.Installation != "" && first.Installation == again.Installation && first.Installation != elsewhere.Installation,
		"installations: %+v, %+v, elsewhere %+v", first, again, elsewhere)
	expect.That(t, first.Process != "" && first.Process != again.Process, "processes: %+v, %+v", first, again)
}
