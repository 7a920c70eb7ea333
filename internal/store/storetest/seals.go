package storetest

import (
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func seals(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("AreKeptAndResetOnce", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		a := session("a", "user:1")
		a.Seal = []byte("seal")
		must.Do(t, s.CreateSession(ctx, a, "", entry("x")))
		b := session("b", "user:1")
		must.Do(t, s.RotateSession(ctx, "a", b, entry("x")))
		if got, err := s.Session(ctx, "b"); err != nil || string(got.FormerHash) != string(a.Hash) || got.Seal != nil {
			t.Errorf("%+v, %v", got, err)
		}
		for id, state := range map[string]string{"p1": store.ApprovalAsked, "p2": store.ApprovalGiven, "p3": "void"} {
			must.Do(t, s.SavePlan(ctx, store.PlanRecord{ID: id, Cluster: "c", By: "user:1", Kind: "split", Hash: "h", Made: begin(),
				Expires: begin().Add(time.Hour), Body: []byte("{}")}))
			must.Do(t, s.SaveApproval(ctx, store.ApprovalRecord{Plan: id, Cluster: "c", State: state, Until: begin(), Body: []byte("b"),
				Seal: []byte("old")}))
		}
		reset := store.SealReset{Setting: "key", Value: "1", Entry: entry("reset"),
			Approval: func(a store.ApprovalRecord) ([]byte, bool) {
				return []byte("new " + a.Plan), a.State != store.ApprovalGiven
			}}
		for i, want := range []bool{true, false} {
			if done, err := s.ResetSeals(ctx, reset); err != nil || done != want {
				t.Errorf("time %d: %v, %v", i+1, done, err)
			}
			must.Do(t, s.CreateSession(ctx, session("later", "user:1"), "later", entry("x")))
		}
		if list, err := s.Sessions(ctx, ""); err != nil || len(list) != 1 || recorded(t, s, "reset") != 1 {
			t.Errorf("sessions %v, %v; recorded %d times", list, err, recorded(t, s, "reset"))
		}
		wants(t, "what was approved", must.Err(s.Approval(ctx, "p2")), fault.NotFound)
		for _, id := range []string{"p1", "p3"} {
			if got, err := s.Approval(ctx, id); err != nil || string(got.Seal) != "new "+id {
				t.Errorf("%s: %+v, %v", id, got, err)
			}
		}
		reset.Value = "2"
		if done, err := s.ResetSeals(ctx, reset); err != nil || !done {
			t.Errorf("another key: %v, %v", done, err)
		}
	})
}
