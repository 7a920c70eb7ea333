package sqlite

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// withRecords returns a store with n records, some with invalid UTF-8.
func withRecords(t *testing.T, n int) *DB {
	t.Helper()
	db := open(t, t.TempDir())
	for i := range n {
		e := store.AuditEntry{
			At:      time.Now(),
			What:    "login.ok",
			By:      "user:1",
			Subject: fmt.Sprintf("%d\xff", i),
			Details: map[string]string{"n": "\xfe"},
		}
		if _, err := db.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func TestAuditRecordsAreReadFromBothEnds(t *testing.T) {
	db := withRecords(t, 7)
	up, err := db.AuditRecords(t.Context(), 2, 3)
	if err != nil || len(up) != 3 || up[0].Seq != 3 || up[2].Seq != 5 {
		t.Errorf("%+v %v", up, err)
	}
	down, err := db.AuditBefore(t.Context(), 3, 5)
	if err != nil || len(down) != 2 || down[0].Seq != 2 || down[1].Seq != 1 {
		t.Errorf("%+v %v", down, err)
	}
	if rep, err := audit.Verify(audit.Records(t.Context(), db, 0), audit.Expect{}); err != nil || rep.Break != nil || rep.End.Seq != 7 {
		t.Errorf("%+v %v", rep, err)
	}
}

func TestAuditHeadsKeepTheirOrder(t *testing.T) {
	db := open(t, t.TempDir())
	if h, err := db.LastHead(t.Context()); h != nil || err != nil {
		t.Fatal(h, err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 7_000_000, time.UTC)
	for i := range 5 {
		if err := db.SaveHead(t.Context(),
			store.AuditHead{Seq: int64(i + 1), Hash: []byte{1}, At: at, Key: []byte{2}, Signature: []byte{3}}); err != nil {
			t.Fatal(err)
		}
	}
	last, err := db.LastHead(t.Context())
	if err != nil || last.Seq != 5 || !last.At.Equal(at) {
		t.Errorf("%+v %v", last, err)
	}
	part, err := db.AuditHeads(t.Context(), 2, 2)
	if err != nil || len(part) != 2 || part[0].Seq != 3 || part[1].Seq != 4 {
		t.Errorf("%+v %v", part, err)
	}
}

// Each statement is one that an attacker with the file could run.
func TestTamperingWithTheAuditTableIsFound(t *testing.T) {
	for name, statement := range map[string]string{
		"edited entry":    `UPDATE audit SET entry = CAST(replace(CAST(entry AS TEXT), 'user:1', 'user:2') AS BLOB) WHERE seq = 4`,
		"same, spelt new": `UPDATE audit SET entry = CAST(CAST(entry AS TEXT) || ' ' AS BLOB) WHERE seq = 4`,
		"garbage":         `UPDATE audit SET entry = x'00ff' WHERE seq = 4`,
		"no entry":        `UPDATE audit SET entry = x'' WHERE seq = 4`,
		"edited hash":     `UPDATE audit SET hash = x'00' WHERE seq = 4`,
		"edited prev":     `UPDATE audit SET prev = x'00' WHERE seq = 4`,
		"removed":         `DELETE FROM audit WHERE seq = 4`,
		"removed first":   `DELETE FROM audit WHERE seq = 1`,
		"moved":           `UPDATE audit SET seq = 40 WHERE seq = 4`,
		"before first":    `INSERT INTO audit SELECT 0, entry, prev, hash FROM audit WHERE seq = 1`,
		"negative":        `INSERT INTO audit SELECT -5, entry, prev, hash FROM audit WHERE seq = 1`,
		"after last":      `INSERT INTO audit SELECT 8, entry, prev, hash FROM audit WHERE seq = 7`,
	} {
		db := withRecords(t, 7)
		err := db.change(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), statement)
			return err
		})
		if err != nil {
			t.Fatal(name, err)
		}
		rep, err := audit.Verify(audit.Records(t.Context(), db, 0), audit.Expect{})
		if err != nil || rep.Break == nil {
			t.Errorf("%s was not found: %v", name, err)
		}
	}
}

func TestReadingTheDataOfARunningServerChangesNothing(t *testing.T) {
	dir := t.TempDir()
	owner := open(t, dir)
	if _, err := owner.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"}); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if rows, err := r.AuditRecords(t.Context(), 0, 10); err != nil || len(rows) != 1 || r.Owner() {
		t.Error(rows, err)
	}
	if _, err := r.Append(t.Context(), store.AuditEntry{}); err == nil {
		t.Error("a read-only store wrote")
	}
	if _, err := OpenReader(t.Context(), t.TempDir()); err == nil {
		t.Error("no record was read")
	}
}
