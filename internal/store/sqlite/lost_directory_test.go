package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// The audit record of a directory that was moved away is not damaged; it is intact at its
// new path.
func TestALostDirectoryIsNotReportedAsAuditDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db := open(t, dir)
	must.Do(t, os.Rename(dir, dir+".away"))
	_, err := db.AuditWritten(t.Context())
	if !errors.Is(err, store.ErrLost) || errors.Is(err, store.ErrAuditDamaged) ||
		!strings.Contains(fault.Text(err), "The data directory was moved or deleted") {
		t.Errorf("verification returned %v", err)
	}
	must.Do(t, os.Rename(dir+".away", dir))
	if w, err := db.AuditWritten(t.Context()); err != nil || !w.Known {
		t.Errorf("with the directory back: %v, known %v", err, w.Known)
	}
}

// After the loss of the directory, an earlier full disk no longer matters, but damage
// does.
func TestALostDirectoryHidesTemporaryTroubleButNotDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db := open(t, dir)
	_ = db.file.failed(syscall.ENOSPC)
	must.Do(t, os.Rename(dir, dir+".away"))
	expect.That(t, db.Trouble() != nil, "the trouble is missing before the loss is noticed")
	if db.Look(); db.Trouble() != nil {
		t.Errorf("after the loss the trouble is %+v, expected none", db.Trouble())
	}
	_ = db.file.failed(result{11, "malformed"})
	if now := db.Trouble(); now == nil || now.Code != store.TroubleDamaged {
		t.Errorf("after loss and damage the trouble is %+v", now)
	}
}

// A read-only process has no successful commit that could end a trouble.
func TestASuccessfulReadEndsTheTroubleOfAReadOnlyStore(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	must.Do(t, open(t, dir).SetSetting(ctx, "a", "1"))
	var broken error
	reader, err := OpenWith(ctx, dir, Options{Before: func(string) error { return broken }})
	must.Do(t, err)
	defer reader.Close()
	broken = syscall.EMFILE
	if _, err := reader.Setting(ctx, "a"); err == nil || reader.Owner() || reader.Trouble() == nil {
		t.Fatalf("%v, owner %v, %+v", err, reader.Owner(), reader.Trouble())
	}
	broken = nil
	if v, err := reader.Setting(ctx, "a"); err != nil || v != "1" || reader.Trouble() != nil {
		t.Errorf("%q %v, and still %+v", v, err, reader.Trouble())
	}
}

// A loss or damage that happens while a write waits in the queue makes that write fail.
func TestAQueuedWriteChecksTheDirectoryAgain(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(db *DB, dir string)
		says    string
	}{
		"damage": {func(db *DB, _ string) { _ = db.file.failed(result{11, "malformed"}) }, "is damaged"},
		"loss":   {func(_ *DB, dir string) { must.Do(t, os.Rename(dir, dir+".away")) }, "was moved or deleted"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, dir := t.Context(), filepath.Join(t.TempDir(), "data")
			db := open(t, dir)
			began := false
			done := make(chan error)
			must.Do(t, db.lockWrites(ctx))
			go func() {
				done <- db.change(ctx, func(*sql.Tx) error { began = true; return nil })
			}()
			synctest.Wait() // the write waits in the queue
			c.happens(db, dir)
			db.unlockWrites()
			if err := <-done; began || fault.Of(err) != fault.Unavailable || !strings.Contains(fault.Text(err), c.says) {
				t.Errorf("%s: the transaction began: %v, error %v", name, began, err)
			}
		})
	}
}

// Soon after the directory is back its loss is no longer reported.
func TestTheAuditRecordIsVerifiedSoonAfterTheDirectoryReturns(t *testing.T) {
	made, dir := templateDatabase(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := openCopy(t, dir, made, attackKey(t))
		a.serve()
		defer a.stop()
		path := a.db.place.dir
		must.Do(t, os.Rename(path, path+".away"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if st := a.keeper.State(); st.Trouble() == nil || !strings.Contains(st.Trouble().Text, "was moved or deleted") {
			t.Errorf("with the directory lost: %+v", st)
		}
		must.Do(t, os.Rename(path+".away", path))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if st := a.keeper.State(); st.Trouble() != nil || st.Err != nil || time.Since(st.Whole) > 3*time.Second {
			t.Errorf("with the directory back the record was not read completely: %+v", st)
		}
	})
}
