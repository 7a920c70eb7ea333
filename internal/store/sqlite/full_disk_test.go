package sqlite

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// On a full disk a write fails completely and with an explanation. Stored data and the
// audit chain stay intact, and writes work when there is space again.
func TestAFullDiskLosesNoStoredData(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	db := open(t, dir)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pages := func(n int) {
		t.Helper()
		must.Do(t, must.Err(db.write.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", n))))
	}
	pages(1) // allows no more pages than there are now
	kept := map[string]bool{}
	write := func(id string) error {
		plan := store.PlanRecord{ID: id, Cluster: "c", By: "user:1", Kind: "split", Hash: "h", Made: at, Expires: at,
			Body: bytes.Repeat([]byte{1}, 900)}
		if err := db.SavePlan(ctx, plan); err != nil {
			return err
		}
		run := store.RunRecord{ID: id, Plan: id, Cluster: "c", By: "user:1", State: "running", Open: true, Started: at,
			Body: bytes.Repeat([]byte{2}, 900)}
		if err := db.AddRun(ctx, run); err != nil {
			return err
		}
		if err := db.AddIntent(ctx, store.IntentRecord{Run: id, At: at, DB: "admin", Command: bytes.Repeat([]byte{3}, 900)}); err != nil {
			return err
		}
		if _, err := db.Append(ctx, store.AuditEntry{At: at, What: "run.step", By: "user:1", Subject: id}); err != nil {
			return err
		}
		kept[id] = true
		return nil
	}
	var full error
	for n := 0; full == nil && n < 1000; n++ {
		full = write(fmt.Sprint("before", n))
	}
	if what, _ := store.TroubleOf(full); fault.Of(full) != fault.Unavailable || what.Code != store.TroubleFull ||
		!strings.Contains(fault.Text(full), "are free") {
		t.Fatalf("a write to a full disk returned %v", full)
	}
	if now := db.Trouble(); now == nil || now.Code != store.TroubleFull {
		t.Fatalf("the trouble is not remembered: %+v", now)
	}
	for n := range 20 { // rows that still fit are complete, the others do not exist
		_ = write(fmt.Sprint("while", n))
	}
	check := func() {
		t.Helper()
		found := map[string]bool{}
		runs, err := db.RunRecords(ctx, "c", 0, 10_000)
		must.Do(t, err)
		for _, r := range runs {
			expect.That(t, len(r.Body) == 900, "run %s has %d bytes", r.ID, len(r.Body))
			intents, err := db.Intents(ctx, r.ID)
			must.Do(t, err)
			expect.That(t, !kept[r.ID] || len(intents) == 1, "run %s lost its intent", r.ID)
			found[r.ID] = true
		}
		for id := range kept {
			expect.That(t, found[id], "run %s is lost", id)
		}
		rep, err := audit.Verify(audit.Records(ctx, db, 0), audit.Expect{})
		expect.That(t, err == nil && rep.Break == nil, "unexpected report %+v, error %v", rep, err)
	}
	check()
	pages(1 << 20)
	must.Do(t, write("after"))
	if now := db.Trouble(); now != nil {
		t.Errorf("after a successful write the trouble is still %+v", now)
	}
	must.Do(t, db.Close())
	db = open(t, dir)
	check()
}
