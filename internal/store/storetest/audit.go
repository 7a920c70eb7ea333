package storetest

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

func auditChain(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("RecordsAreChainedHoweverManyWriteAtOnce", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		if seq, _, err := s.AuditEnd(ctx); seq != 0 || err != nil {
			t.Fatal(seq, err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 5 {
					if _, err := s.Append(ctx, entry("login.ok")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		rows := must.Get(s.AuditRecords(ctx, 0, 100))
		must.That(t, len(rows) == 20, "%d records", len(rows))
		prev := audit.Begin()
		for i, r := range rows {
			if err := audit.Check(r, int64(i+1), prev); err != nil {
				t.Error(err)
			}
			prev = r.Hash
		}
		seq, hash, err := s.AuditEnd(ctx)
		expect.That(t, err == nil && seq == 20 && cmp.Equal(hash, prev), "the end is %d %x, %v", seq, hash, err)
		if rows, err = s.AuditRecords(ctx, 15, 3); err != nil || len(rows) != 3 || rows[0].Seq != 16 {
			t.Errorf("%d records from %v, %v", len(rows), rows, err)
		}
		if rows, err = s.AuditBefore(ctx, 5, 2); err != nil || len(rows) != 2 || rows[0].Seq != 4 || rows[1].Seq != 3 {
			t.Errorf("before 5: %v, %v", rows, err)
		}
	})
	t.Run("EntriesComeBackAsTheyWere", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		e := store.AuditEntry{Cluster: "c", At: begin(), By: "user:1", Via: "password", From: "::1", What: "plan.made",
			Subject: "a\r\nb\u202e", Outcome: "ok", Details: map[string]string{"b": "<script>", "a": "x"}}
		made := must.Get(s.Append(ctx, e))
		rows := must.Get(s.AuditRecords(ctx, 0, 1))
		same(t, rows[0].AuditEntry, e)
		same(t, rows[0], made)
	})
	t.Run("HeadsAreKeptInOrder", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		if h, err := s.LastHead(ctx); h != nil || err != nil {
			t.Fatal(h, err)
		}
		var want []store.AuditHead
		for seq := range int64(3) {
			h := store.AuditHead{Seq: seq + 1, Hash: []byte{1}, At: begin(), Key: []byte{2}, Signature: []byte{3}}
			must.Do(t, s.SaveHead(ctx, h))
			want = append(want, h)
		}
		same(t, must.Get(s.AuditHeads(ctx, 1, 10)), want[1:])
		same(t, must.Get(s.LastHead(ctx)), &want[2])
	})
}
