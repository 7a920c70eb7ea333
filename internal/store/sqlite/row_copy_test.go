package sqlite

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// While rows are loaded nothing is forced onto the disk. So the mark that the file cannot be used is in the file
// before, and all rows are in it before the mark is removed.
func TestLoadedRowsAreInTheFileBeforeItCanBeUsed(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), t.TempDir())
	must.Do(t, err)
	defer db.Close()
	journal := func() int64 {
		t.Helper()
		info := must.Get(os.Stat(db.file.path + "-wal"))
		return info.Size()
	}
	synchronous := func() (level int) {
		t.Helper()
		must.Do(t, db.write.QueryRow(`PRAGMA synchronous`).Scan(&level))
		return level
	}
	must.Do(t, db.BeginLoad(t.Context()))
	expect.That(t, journal() == 0 && synchronous() == 0,
		"begin: %d bytes in the journal, synchronous %d", journal(), synchronous())
	var rows []store.Row
	for i := range 2*loadTogether + 7 {
		rows = append(rows, store.Row{fmt.Sprint("s", i), strings.Repeat("x", 1000), int64(0)})
	}
	must.Do(t, db.LoadRows(t.Context(), store.Tables()[0], rows))
	loaded := journal()
	must.Do(t, db.EndLoad(t.Context()))
	expect.That(t, journal() < loaded/2 && synchronous() == 2,
		"end: %d bytes of %d in the journal, synchronous %d", journal(), loaded, synchronous())
	var found int
	must.Do(t, db.read.QueryRow(`SELECT count(*) FROM settings`).Scan(&found))
	expect.That(t, found == len(rows), "%d rows of %d", found, len(rows))
}
