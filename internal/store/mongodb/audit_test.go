package mongodb

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

func verified(t *testing.T, db *DB, x audit.Expect) audit.Report {
	t.Helper()
	rep, err := audit.Verify(audit.Records(t.Context(), db, 0), x)
	must.Do(t, err)
	return rep
}

func TestAppendsOfSeveralReplicasAreOneChain(t *testing.T) {
	c, at := server(t), database(t)
	var all sync.WaitGroup
	var dbs []*DB
	for range 4 {
		dbs = append(dbs, open(t, c, at))
	}
	for _, db := range dbs {
		all.Go(func() {
			for range 50 {
				expect.NoError(t, must.Err(db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"})), "Append")
			}
		})
	}
	all.Wait()
	var x audit.Expect
	for _, db := range dbs { // what each of them wrote last is there
		w, err := db.AuditWritten(t.Context())
		expect.That(t, err == nil && w.Known && !w.Last, "%+v, %v", w, err)
		x.Known = append(x.Known, audit.Point{Seq: w.Seq, Hash: w.Hash})
	}
	if rep := verified(t, dbs[0], x); rep.Break != nil || rep.End.Seq != 200 {
		t.Errorf("%d records, %v", rep.End.Seq, rep.Break)
	}
}

func TestNumbersOfDeletedRecordsAreNotUsedAgain(t *testing.T) {
	c, at := server(t), database(t)
	db := open(t, c, at)
	add := func() store.AuditRecord {
		t.Helper()
		r, err := db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"})
		must.Do(t, err)
		return r
	}
	for range 3 {
		add()
	}
	must.Do(t, must.Err(db.collection("audit").DeleteOne(t.Context(), eq("_id", 3))))
	expect.Equal(t, add().Seq, 4, "the number of the next")
	if rep := verified(t, db, audit.Expect{}); rep.Break == nil || rep.Break.Seq != 3 {
		t.Errorf("the gap is not found: %v", rep.Break)
	}
}

func TestRecordOfAnotherProgramDoesNotStopTheRecord(t *testing.T) {
	db := open(t, server(t), database(t))
	first, err := db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"})
	must.Do(t, err)
	forged, canonical, err := audit.Next(store.AuditEntry{At: time.Now(), What: "forged"}, 1, first.Hash)
	must.Do(t, err)
	row := eq("_id", forged.Seq, "entry", canonical, "prev", forged.Prev, "hash", forged.Hash)
	if _, err := db.collection("audit").InsertOne(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	r, err := db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"})
	expect.That(t, err == nil && r.Seq == 3 && bytes.Equal(r.Prev, first.Hash), "%+v, %v", r, err)
	expect.That(t, verified(t, db, audit.Expect{}).Break != nil, "the forged record is not found")
	if r, err = db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"}); err != nil || r.Seq != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The counter is deleted together with the last record.
func TestLostEndOfTheRecordIsMadeAgain(t *testing.T) {
	db := open(t, server(t), database(t))
	for range 2 {
		must.Do(t, must.Err(db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"})))
	}
	must.Do(t, must.Err(db.collection(counters).DeleteOne(t.Context(), eq("_id", auditEnd))))
	must.Do(t, must.Err(db.collection("audit").DeleteOne(t.Context(), eq("_id", 2))))
	if r, err := db.Append(t.Context(), store.AuditEntry{At: time.Now(), What: "login.ok"}); err != nil || r.Seq != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}
