package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// The audit record of a directory that was moved away is not called damaged: it is
// in order where it is now.
func TestALostDirectoryIsNoDamageOfTheAuditRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db := open(t, dir)
	keep(t, os.Rename(dir, dir+".away"))
	_, _, _, err := db.AuditWritten(t.Context())
	if !errors.Is(err, store.ErrLost) || errors.Is(err, store.ErrAuditDamaged) || !strings.Contains(fault.Text(err), "The data directory was moved or deleted") {
		t.Errorf("it says %v", err)
	}
	keep(t, os.Rename(dir+".away", dir))
	if _, _, known, err := db.AuditWritten(t.Context()); err != nil || !known {
		t.Errorf("back again: %v, known %v", err, known)
	}
}

// A disk that was full says nothing beside the loss of the directory that was on it;
// damage does.
func TestWhileTheDirectoryIsLostPassingTroubleIsNotTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db := open(t, dir)
	_ = db.file.failed(syscall.ENOSPC)
	keep(t, os.Rename(dir, dir+".away"))
	if db.Trouble() == nil {
		t.Error("nobody has looked yet")
	}
	if db.Look(); db.Trouble() != nil {
		t.Errorf("lost, and %+v", db.Trouble())
	}
	_ = db.file.failed(result{11, "malformed"})
	if now := db.Trouble(); now == nil || now.Code != store.TroubleDamaged {
		t.Errorf("lost and damaged: %+v", now)
	}
}

// A process that only reads commits nothing by which a trouble would end.
func TestAReadersTroubleEndsWithAReadThatWorks(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	keep(t, open(t, dir).SetSetting(ctx, "a", "1"))
	var broken error
	reader, err := OpenWith(ctx, dir, Options{Before: func(string) error { return broken }})
	keep(t, err)
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
