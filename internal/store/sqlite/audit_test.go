package sqlite

import (
	"fmt"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// withRecords returns a store with n records, some with invalid UTF-8.
func withRecords(t *testing.T, n int) *DB {
	t.Helper()
	dir, _ := directoryOf(t, emptyFile)
	db := open(t, dir)
	for i := range n {
		e := store.AuditEntry{At: time.Now(), What: "login.ok", By: "user:1", Subject: fmt.Sprintf("%d\xff", i),
			Details: map[string]string{"n": "\xfe"}}
		must.Do(t, must.Err(db.Append(t.Context(), e)))
	}
	return db
}

func TestReadingTheDataOfARunningServerChangesNothing(t *testing.T) {
	dir := t.TempDir()
	owner := open(t, dir)
	must.Do(t, must.Err(owner.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"})))
	r, err := OpenReader(t.Context(), dir)
	must.Do(t, err)
	defer r.Close()
	if rows, err := r.AuditRecords(t.Context(), 0, 10); err != nil || len(rows) != 1 || r.Owner() {
		t.Error(rows, err)
	}
	expect.That(t, must.Err(r.Append(t.Context(), store.AuditEntry{})) != nil, "a read-only store wrote")
	expect.That(t, must.Err(OpenReader(t.Context(), t.TempDir())) != nil, "no record was read")
}
