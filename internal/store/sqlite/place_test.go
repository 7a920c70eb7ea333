package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/store"
)

// waysToLoseDirectory returns the ways in which a directory in use can be lost. Each one
// returns a function that repairs it, or nil if that is impossible.
func waysToLoseDirectory() map[string]func(t *testing.T, dir string) (mend func()) {
	rename := func(t *testing.T, from, to string) {
		t.Helper()
		must.Do(t, os.Rename(from, to))
	}
	moved := func(t *testing.T, path string) func() {
		rename(t, path, path+".away")
		return func() { must.Do(t, os.RemoveAll(path)); rename(t, path+".away", path) }
	}
	return map[string]func(*testing.T, string) func(){
		"deleted":      func(t *testing.T, dir string) func() { must.Do(t, os.RemoveAll(dir)); return nil },
		"moved":        func(t *testing.T, dir string) func() { return moved(t, dir) },
		"parent moved": func(t *testing.T, dir string) func() { return moved(t, filepath.Dir(dir)) },
		"replaced by an empty one": func(t *testing.T, dir string) func() {
			mend := moved(t, dir)
			must.Do(t, os.Mkdir(dir, 0o700))
			return mend
		},
		"replaced by a copy": func(t *testing.T, dir string) func() {
			mend := moved(t, dir)
			must.Do(t, os.CopyFS(dir, os.DirFS(dir+".away")))
			return mend
		},
		"replaced by a file": func(t *testing.T, dir string) func() {
			mend := moved(t, dir)
			must.Do(t, os.WriteFile(dir, nil, 0o600))
			return mend
		},
		"replaced by a link to a copy": func(t *testing.T, dir string) func() {
			mend := moved(t, dir)
			must.Do(t, os.CopyFS(dir+".copy", os.DirFS(dir+".away")))
			must.Do(t, os.Symlink(dir+".copy", dir))
			return mend
		},
		"database deleted": func(t *testing.T, dir string) func() {
			must.Do(t, os.Remove(filepath.Join(dir, FileName)))
			return nil
		},
		"database moved": func(t *testing.T, dir string) func() { return moved(t, filepath.Join(dir, FileName)) },
		"database replaced by a link to itself": func(t *testing.T, dir string) func() {
			path := filepath.Join(dir, FileName)
			mend := moved(t, path)
			must.Do(t, os.Symlink(path+".away", path))
			return mend
		},
		"log deleted": func(t *testing.T, dir string) func() {
			must.Do(t, os.Remove(filepath.Join(dir, FileName+"-wal")))
			return nil
		},
		"lock deleted": func(t *testing.T, dir string) func() {
			must.Do(t, os.Remove(filepath.Join(dir, lockName)))
			return nil
		},
		"lock replaced": func(t *testing.T, dir string) func() {
			mend := moved(t, filepath.Join(dir, lockName))
			must.Do(t, os.WriteFile(filepath.Join(dir, lockName), nil, 0o600))
			return mend
		},
	}
}

// A write checks the directory itself, between the periodic checks. Nothing is accepted
// into files that the next process would not open. Writes continue when the same files
// are back.
func TestWritesToALostDirectoryAreRefused(t *testing.T) {
	for name, damage := range waysToLoseDirectory() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, dir := t.Context(), filepath.Join(t.TempDir(), "parent", "data")
			db := open(t, dir)
			must.Do(t, db.SetSetting(ctx, "a", "1"))
			mend := damage(t, dir)
			err := db.SetSetting(ctx, "a", "2")
			if fault.Of(err) != fault.Unavailable || !strings.Contains(fault.Text(err), "while shardboard was running") ||
				strings.Contains(fault.Text(err), dir) {
				t.Fatalf("a write into a lost directory returned %v", err)
			}
			if c := db.Condition(); c.Hold != store.Vanished || c.Since.IsZero() || db.Writable() == nil {
				t.Errorf("unexpected condition: %+v", c)
			}
			if v, err := db.Setting(ctx, "a"); err != nil || v != "1" {
				t.Errorf("reading open files failed: %q, %v", v, err)
			}
			if mend == nil {
				return
			}
			mend()
			must.Do(t, db.SetSetting(ctx, "a", "3"))
			if c := db.Condition(); c.Hold != store.Owned || c.Err != nil {
				t.Errorf("unexpected condition: %+v", c)
			}
		})
	}
}

// A write whose files vanish during its transaction is not reported as stored.
func TestAWriteFailsWhenItsFilesVanishDuringTheTransaction(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "data")
	db := open(t, dir)
	tx, err := db.write.BeginTx(ctx, nil) // holds the only connection
	must.Do(t, err)
	done := make(chan error)
	go func() { done <- db.SetSetting(ctx, "a", "1") }()
	for db.write.Stats().WaitCount == 0 { // the write has checked the directory and waits for the connection
	}
	must.Do(t, os.Rename(dir, dir+".away"))
	must.Do(t, tx.Rollback())
	refused.With(t, <-done, fault.UnknownOutcome, "was moved or deleted", "unexpected error")
	must.Do(t, os.Rename(dir+".away", dir))
	if v, err := db.Setting(ctx, "a"); err != nil || v != "1" {
		t.Errorf("unexpected result %q, error %v", v, err)
	}
}

// A directory that cannot be checked may be lost.
func TestADirectoryThatCannotBeCheckedTakesNoWrites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "parent", "data")
	db := open(t, dir)
	away := db.place.dir
	db.place.dir = filepath.Join(dir, strings.Repeat("x", 300)) // ENAMETOOLONG, because root can read everything
	err := db.SetSetting(t.Context(), "a", "1")
	if fault.Of(err) != fault.Unavailable || !strings.Contains(fault.Text(err), "cannot be examined") ||
		db.Condition().Hold != store.Unreadable {
		t.Errorf("unexpected error %v, condition %+v", err, db.Condition())
	}
	db.place.dir = away
	must.Do(t, db.SetSetting(t.Context(), "a", "2"))
}

// A connection closed by a cancelled request is not reported as a loss.
func TestCancelledCallsAreNotReportedAsALoss(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	db := open(t, dir)
	for range 5 {
		gone, cancel := context.WithCancel(ctx)
		tx, err := db.write.BeginTx(gone, nil)
		must.Do(t, err)
		cancel()
		_ = tx.Rollback()
		r, err := OpenReader(ctx, dir)
		must.Do(t, err)
		must.Do(t, r.Close())
		second := open(t, dir)
		must.Do(t, second.Close())
		must.Do(t, db.SetSetting(ctx, "a", "1"))
	}
}

// The guard file next to the directory shows that the moved directory is still in use.
func TestANewDirectoryAtTheSamePathGetsNoSecondOwner(t *testing.T) {
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "data")
	first := open(t, dir)
	away := dir + ".away"
	must.Do(t, os.Rename(dir, away))
	second, err := Open(ctx, dir)
	must.That(t, fault.Of(err) == fault.Conflict && strings.Contains(fault.Text(err), "still running") && second == nil,
		"unexpected error: %v", err)
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was created anyway: %v", err)
	}
	// The guard also works through other names of the path.
	refused.As(t, must.Err(Open(ctx, dir+"/")), fault.Conflict, "opened with a slash at its end")
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(filepath.Dir(dir), link))
	refused.As(t, must.Err(Open(ctx, filepath.Join(link, "data"))), fault.Conflict, "opened through a link")
	must.Do(t, first.Close())
	expect.That(t, open(t, dir).Owner(), "opening failed although the first store is closed")
	expect.That(t, open(t, away).Owner(), "the moved directory still has an owner")
}

// A guard file that cannot be trusted is ignored and not written to.
func TestAnUntrustedGuardDoesNotPreventOwnership(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, path string){
		"a link": func(t *testing.T, path string) {
			must.Do(t, os.WriteFile(path+".target", []byte("mine"), 0o600))
			must.Do(t, os.Symlink(path+".target", path))
		},
		"another name of a file": func(t *testing.T, path string) {
			must.Do(t, os.WriteFile(path+".target", []byte("mine"), 0o600))
			must.Do(t, os.Link(path+".target", path))
		},
		"a directory": func(t *testing.T, path string) { must.Do(t, os.Mkdir(path, 0o700)) },
		"another program's file": func(t *testing.T, path string) {
			must.Do(t, os.WriteFile(path, []byte("lockfileVersion: 9\nof a package manager\n"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			make(t, dir+guardSuffix)
			first := open(t, dir)
			expect.That(t, first.Owner() && first.guard == nil, "owner %v, guard %v", first.Owner(), first.guard)
			if text, err := os.ReadFile(dir + guardSuffix + ".target"); err == nil && string(text) != "mine" {
				t.Errorf("the file behind the guard was written to: %q", text)
			}
			if text, err := os.ReadFile(dir + guardSuffix); name == "another program's file" && !strings.HasPrefix(string(text), "lockfileVersion") {
				t.Errorf("the guard file was replaced: %q, %v", text, err)
			}
			// Without a guard a second process becomes the owner of a new directory. The first
			// process then writes nothing more and does not read the second one's data.
			must.Do(t, os.Rename(dir, dir+".away"))
			second := open(t, dir)
			must.Do(t, second.SetSetting(t.Context(), "a", "second"))
			if err := first.SetSetting(t.Context(), "a", "first"); fault.Of(err) != fault.Unavailable || !second.Owner() {
				t.Errorf("the first process still writes: %v", err)
			}
			first.read.SetMaxIdleConns(0) // each read opens a connection
			if v, err := first.Setting(t.Context(), "a"); fault.Of(err) != fault.Unavailable || v != "" {
				t.Errorf("the first process reads %q, %v", v, err)
			}
			must.Do(t, first.Close()) // which must not remove files of the second process
			must.Do(t, second.SetSetting(t.Context(), "a", "third"))
		})
	}
}
