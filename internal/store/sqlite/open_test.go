package sqlite

import (
	"context"
	"errors"
	"testing"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

func open(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestASecondProcessReadsAndDoesNotWrite(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	first := open(t, dir)
	if err := first.SetSetting(ctx, "a", "1"); err != nil {
		t.Fatal(err)
	}
	second := open(t, dir)
	if !first.Owner() || second.Owner() {
		t.Fatal("ownership", first.Owner(), second.Owner())
	}
	if v, err := second.Setting(ctx, "a"); err != nil || v != "1" {
		t.Fatal(v, err)
	}
	if err := second.SetSetting(ctx, "a", "2"); !errors.Is(err, store.ErrReadOnly) {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if third := open(t, dir); !third.Owner() {
		t.Fatal("the directory has no owner, but the next store does not own it")
	}
}

func TestAuditRecordsAreChained(t *testing.T) {
	ctx := t.Context()
	db := open(t, t.TempDir())
	for range 3 {
		if _, err := db.Append(ctx, store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1"}); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.AuditRecords(ctx, 0, 10)
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	prev := audit.Begin()
	for i, r := range rows {
		if err := audit.Check(r, int64(i+1), prev); err != nil {
			t.Error(err)
		}
		prev = r.Hash
	}
}
