package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// The number of a deleted record is never used again. The gap remains, and every later
// process finds it.
func TestNumbersOfDeletedAuditRecordsAreNotReused(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	a := &tamperFixture{t: t, db: db}
	a.append(5)
	a.runSQL(`DELETE FROM audit WHERE seq >= 4`)
	r, err := db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"})
	must.That(t, err == nil && r.Seq == 6, "unexpected record %+v, error %v", r, err)
	a.append(2)
	must.Do(t, db.Close())
	a.db = open(t, dir)
	a.append(1)
	rep, err := audit.Verify(audit.Records(t.Context(), a.db, 0), audit.Expect{})
	if err != nil || rep.Break == nil || rep.Break.Code != audit.Misplaced || rep.Break.Seq != 4 || rep.Break.Found != 6 {
		t.Errorf("unexpected finding %+v, error %v", rep.Break, err)
	}
	a.runSQL(`UPDATE audit SET seq = 9223372036854775807 WHERE seq = 9`)
	if _, err := a.db.Append(t.Context(), store.AuditEntry{At: time.Now()}); fault.Of(err) != fault.Unavailable ||
		!strings.Contains(fault.Text(err), "highest number") {
		t.Error(err)
	}
}

// A transaction that fails after an append leaves nothing in the writer's memory.
func TestARolledBackAppendIsNotReportedAsADeletedRecord(t *testing.T) {
	db := withRecords(t, 3)
	full := errors.New("something else failed")
	for range 2 {
		err := db.change(t.Context(), func(tx *sql.Tx) error {
			if _, err := db.in(tx).Append(t.Context(), store.AuditEntry{At: time.Now()}); err != nil {
				return err
			}
			return full
		})
		must.That(t, errors.Is(err, full), "%v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	err := db.change(canceled, func(tx *sql.Tx) error {
		_, err := db.in(tx).Append(canceled, store.AuditEntry{At: time.Now()})
		cancel()
		return err
	})
	must.That(t, err != nil, "the transaction was committed")
	r, err := db.Append(t.Context(), store.AuditEntry{At: time.Now()})
	must.That(t, err == nil && r.Seq == 4, "%v %v", r.Seq, err)
	if w, err := db.AuditWritten(t.Context()); w.Seq != 4 || !w.Known || !w.Last || err != nil {
		t.Error(w, err)
	}
	if rep, err := audit.Verify(audit.Records(t.Context(), db, 0), audit.Expect{}); err != nil || rep.Break != nil {
		t.Error(rep.Break, err)
	}
}

// Records that are written while the keeper checks never cause a false alarm.
func TestRecordsWrittenDuringChecksAreNotReported(t *testing.T) {
	db := withRecords(t, 5)
	done := make(chan error, 1)
	go func() {
		var err error
		for range 60 {
			if _, err = db.Append(context.Background(), store.AuditEntry{At: time.Now(), What: "login.ok"}); err != nil {
				break
			}
		}
		done <- err
	}()
	k := audit.NewKeeper(db, audit.Options{Key: attackKey(t)})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for written := false; !written; {
		select {
		case err := <-done:
			if written = true; err != nil {
				t.Error(err)
			}
		default:
		}
		_ = k.Run(ended) // two checks
		if st := k.State(); st.Break != nil || st.Err != nil {
			t.Fatalf("unexpected state: %+v", st)
		}
	}
	if st := k.State(); st.End.Seq != 65 {
		t.Errorf("unexpected state: %+v", st)
	}
}

// A change whose record cannot be written does not happen, so that nobody signs in
// without a record. The error names the cause.
func TestChangesFailWithoutTheAuditTable(t *testing.T) {
	ctx, db := t.Context(), withRecords(t, 2)
	a := &tamperFixture{t: t, db: db}
	a.runSQL(`ALTER TABLE audit RENAME TO other`)
	session := store.Session{ID: "s", Hash: []byte{1}, Subject: "user:1", Created: time.Now(), Used: time.Now(),
		Expires: time.Now().Add(time.Hour)}
	err := db.CreateSession(ctx, session, "", store.AuditEntry{At: time.Now(), What: "login.ok"})
	expectTrouble(t, err, store.TroubleSchema, "The table audit is missing in ") // only once, because pages add the cause to texts without it
	expect.That(t, errors.Is(err, store.ErrAuditDamaged), "%v", err)
	var sessions int
	if err := db.read.QueryRow(`SELECT count(*) FROM sessions`).Scan(&sessions); err != nil || sessions != 0 {
		t.Error("a session was created without a record:", sessions, err)
	}
	a.runSQL(`ALTER TABLE other RENAME TO audit`)
	if err := db.CreateSession(ctx, session, "", store.AuditEntry{At: time.Now(), What: "login.ok"}); err != nil {
		t.Error("signing in after the table is back failed:", err)
	}
	a.runSQL(`ALTER TABLE audit ADD COLUMN more TEXT`)
	if _, err := db.Append(ctx, store.AuditEntry{At: time.Now(), What: "login.ok"}); err != nil {
		t.Error("an additional column makes appends fail:", err)
	}
	a.runSQL(`ALTER TABLE audit RENAME TO other`, `CREATE VIEW audit AS SELECT * FROM other`)
	if _, err := db.Append(ctx, store.AuditEntry{At: time.Now()}); !errors.Is(err, store.ErrAuditDamaged) ||
		!strings.Contains(fault.Text(err), "was replaced") {
		t.Error(err)
	}
}
