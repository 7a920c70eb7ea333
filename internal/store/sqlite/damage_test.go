package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// fileOf is the closed file of a database that was made once for all tests: syncing its steps to the disk takes longer
// than most tests.
func fileOf(fill func(db *DB) error) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		dir, err := os.MkdirTemp("", "made")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		db, err := Open(context.Background(), dir)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(fill(db), db.Close()); err != nil {
			return nil, err
		}
		return os.ReadFile(filepath.Join(dir, FileName))
	})
}

var (
	emptyFile  = fileOf(func(*DB) error { return nil })
	filledFile = fileOf(func(db *DB) error { // several pages
		for i := range 40 {
			p := store.PlanRecord{ID: fmt.Sprint(i), Cluster: "c", Made: time.UnixMilli(1), Expires: time.UnixMilli(2),
				Body: bytes.Repeat([]byte{7}, 3000)}
			if err := db.SavePlan(context.Background(), p); err != nil {
				return err
			}
		}
		return nil
	})
)

// directoryOf returns a data directory with a database that was made before.
func directoryOf(t *testing.T, file func() ([]byte, error)) (dir, path string) {
	t.Helper()
	text, err := file()
	must.Do(t, err)
	dir = t.TempDir()
	path = filepath.Join(dir, FileName)
	must.Do(t, errors.Join(os.Chmod(dir, 0o700), os.WriteFile(path, text, 0o600)))
	return dir, path
}

func filledDatabase(t *testing.T) (dir, path string) {
	t.Helper()
	return directoryOf(t, filledFile)
}

// runSQL runs statements on a file like another program.
func runSQL(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := must.Get(sql.Open("sqlite", path))
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
}

func overwrite(t *testing.T, path string, at int64, with []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must.Do(t, err)
	_, err = f.WriteAt(with, at)
	must.Do(t, errors.Join(err, f.Close()))
}

// Damage of the file is found at start, before the file is changed. The first line of
// the error names the file, the cause and the remedy.
func TestADamagedFileIsRefusedAtStartWithCauseAndRemedy(t *testing.T) {
	rubbish := bytes.Repeat([]byte("rubbish "), 512)
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		code   store.TroubleCode
		says   string
	}{
		"text": {func(t *testing.T, p string) { must.Do(t, os.WriteFile(p, []byte("hello, this is a text\n"), 0o600)) },
			store.TroubleDamaged, "is not a database"},
		"zeros": {func(t *testing.T, p string) { must.Do(t, os.WriteFile(p, make([]byte, 100_000), 0o600)) }, store.TroubleDamaged,
			"is not a database"},
		"cut off in the middle": {func(t *testing.T, p string) {
			info := must.Get(os.Stat(p))
			must.Do(t, os.Truncate(p, info.Size()/2))
		}, store.TroubleDamaged, "is damaged"},
		"cut off in the header":  {func(t *testing.T, p string) { must.Do(t, os.Truncate(p, 50)) }, store.TroubleDamaged, "is not a database"},
		"cut off within a page":  {func(t *testing.T, p string) { must.Do(t, os.Truncate(p, 4096*5+77)) }, store.TroubleDamaged, "is damaged"},
		"a page overwritten":     {func(t *testing.T, p string) { overwrite(t, p, 4096*20, rubbish) }, store.TroubleDamaged, "is damaged"},
		"the schema overwritten": {func(t *testing.T, p string) { overwrite(t, p, 100, rubbish[:1000]) }, store.TroubleDamaged, "is damaged"},
		"rubbish in the journal": {func(t *testing.T, p string) { must.Do(t, os.WriteFile(p+"-wal", rubbish, 0o600)) },
			store.TroubleDamaged, "-wal, the journal of the database, is damaged"},
		"another program's, mark": {func(t *testing.T, p string) { runSQL(t, p, `PRAGMA application_id = 252006674`) },
			store.TroubleForeign, "another program"},
		"another program's, tables": {func(t *testing.T, p string) {
			must.Do(t, os.Remove(p))
			runSQL(t, p, `CREATE TABLE moz_places (id INTEGER)`, `PRAGMA user_version = 77`)
		}, store.TroubleForeign, "moz_places"},
		"another program's, empty": {func(t *testing.T, p string) {
			must.Do(t, os.Remove(p))
			runSQL(t, p, `PRAGMA user_version = 77`, `VACUUM`)
		}, store.TroubleForeign, "another program"},
		"a missing table": {func(t *testing.T, p string) { runSQL(t, p, `DROP TABLE intents`) }, store.TroubleSchema,
			"The table intents is missing"},
		"a missing column": {func(t *testing.T, p string) { runSQL(t, p, `ALTER TABLE users DROP COLUMN last_login`) }, store.TroubleSchema,
			"The column users.last_login is missing"},
		"an upgrade cut in half": {func(t *testing.T, p string) {
			runSQL(t, p, `DELETE FROM migrations WHERE name = '0060_session_rotation.sql'`)
		}, store.TroubleSchema, "cannot be upgraded"},
		"a missing list of steps": {func(t *testing.T, p string) { runSQL(t, p, `DROP TABLE migrations`) }, store.TroubleSchema,
			"cannot be upgraded"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := filledDatabase(t)
			c.damage(t, path)
			before, _ := os.ReadFile(path)
			_, err := Open(t.Context(), dir)
			got, ok := store.TroubleOf(err)
			must.That(t, ok && got.Code == c.code, "%q: unexpected error: %v", got.Code, err)
			text := fault.Text(err)
			expect.ContainsAll(t, text, []string{path, c.says, "aside"}, "the error")
			expect.That(t, !strings.Contains(text, "\n") && fault.Of(err) == fault.Unavailable,
				"the error %q has the kind %s", text, fault.Of(err))
			if after, _ := os.ReadFile(path); c.code != store.TroubleSchema && !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestANewerDatabaseIsRefusedUnchanged(t *testing.T) {
	dir, path := filledDatabase(t)
	runSQL(t, path, `INSERT INTO migrations VALUES ('9000_future.sql', 1)`,
		`DELETE FROM migrations WHERE name = '0070_run_outcomes.sql'`, `DROP TABLE run_outcomes`,
		`PRAGMA wal_checkpoint(TRUNCATE)`)
	before := must.Get(os.ReadFile(path))
	_, err := Open(t.Context(), dir)
	if text := fault.Text(err); err == nil || !strings.Contains(text, "newer shardboard") || !strings.Contains(text, "9000_future.sql") ||
		!strings.Contains(text, "restore a backup") {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Error("the file was changed", err)
	}
}

// A file of an older version has the tables, but no mark. It is accepted and marked.
func TestAnOlderDatabaseWithoutAMarkIsAcceptedAndMarked(t *testing.T) {
	dir, path := filledDatabase(t)
	id := func() (id int64) {
		db := must.Get(sql.Open("sqlite", path))
		defer db.Close()
		must.Do(t, db.QueryRow(`PRAGMA application_id`).Scan(&id))
		return id
	}
	must.That(t, id() == applicationID, "a new database has the mark %#x", id())
	runSQL(t, path, `PRAGMA application_id = 0`)
	db := open(t, dir)
	expect.NoError(t, must.Err(db.PlanRecord(t.Context(), "39")), "PlanRecord")
	must.Do(t, db.Close())
	expect.Equal(t, id(), applicationID, "the mark")
}

// Damage of an open file is reported by the call that meets it.
func TestDamageWhileRunningIsReportedByTheFailingCall(t *testing.T) {
	save := func(db *DB) error {
		return db.SavePlan(context.Background(), store.PlanRecord{ID: "new", Made: time.Now(), Expires: time.Now(), Body: []byte{1}})
	}
	list := func(db *DB) error { _, err := db.RunRecords(context.Background(), "c", 0, 10); return err }
	t.Run("a table is dropped", func(t *testing.T) {
		dir, path := filledDatabase(t)
		db := open(t, dir)
		runSQL(t, path, `PRAGMA foreign_keys = 0`, `DROP TABLE runs`)
		expectTrouble(t, list(db), store.TroubleSchema, "The table runs is missing in "+path)
		must.Do(t, save(db)) // the other tables can still be used
		if now := db.Trouble(); now == nil || now.Code != store.TroubleSchema {
			t.Errorf("a successful call cleared the trouble of a missing table: %+v", now)
		}
	})
	t.Run("pages are overwritten", func(t *testing.T) {
		dir, path := filledDatabase(t)
		db := open(t, dir)
		info := must.Get(os.Stat(path))
		overwrite(t, path, 4096, bytes.Repeat([]byte{0xaa}, int(info.Size())-4096))
		_, err := db.PlanRecord(t.Context(), "39")
		expectTrouble(t, err, store.TroubleDamaged, path+" is damaged")
		expectTrouble(t, save(db), store.TroubleDamaged, "Stop shardboard")
		expectTrouble(t, db.Check(t.Context()), store.TroubleDamaged, path)
	})
	t.Run("another program locks it", func(t *testing.T) {
		dir, path := filledDatabase(t)
		db, err := OpenWith(t.Context(), dir, Options{lockWait: 20 * time.Millisecond})
		must.Do(t, err)
		defer db.Close()
		other := must.Get(sql.Open("sqlite", path+"?_txlock=immediate"))
		defer other.Close()
		held, err := other.Begin()
		must.Do(t, err)
		expectTrouble(t, save(db), store.TroubleBusy, "Another program holds a lock on "+path)
		must.Do(t, list(db)) // reading still works
		must.Do(t, held.Rollback())
		must.Do(t, save(db))
		if now := db.Trouble(); now != nil {
			t.Errorf("the trouble is still reported after the lock is gone: %+v", now)
		}
	})
}

func expectTrouble(t *testing.T, err error, code store.TroubleCode, part string) {
	t.Helper()
	what, ok := store.TroubleOf(err)
	if !ok || what.Code != code || !strings.Contains(fault.Text(err), part) || fault.Title(err) != what.Title() {
		t.Errorf("expected %s with %q, found %q: %v", code, part, fault.Title(err), err)
	}
}
