package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// planApprovals is part of Journal: what a second person said about a plan.
func planApprovals(t *testing.T, open func(*testing.T) store.Journal) {
	asked := func(plan string, minute int) store.ApprovalRecord {
		return store.ApprovalRecord{Plan: plan, Cluster: "c", State: store.ApprovalAsked, Until: begin().Add(time.Duration(minute) * time.Minute),
			Body: []byte{0, 255, 1}}
	}
	t.Run("APlanHasOneApprovalThatIsReplaced", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		must.Do(t, j.SavePlan(ctx, plan("p1")))
		wants(t, "an approval that nobody asked for", must.Err(j.Approval(ctx, "p1")), fault.NotFound)
		must.Do(t, j.AddApproval(ctx, asked("p1", 1)))
		wants(t, "a second request", j.AddApproval(ctx, asked("p1", 2)), fault.Conflict)
		got := must.Get(j.Approval(ctx, "p1"))
		if d := cmp.Diff(asked("p1", 1), got); d != "" {
			t.Error(d)
		}
		given := store.ApprovalRecord{Plan: "p1", Cluster: "c", State: "approved", Until: begin().Add(time.Hour), Body: []byte("anna")}
		must.Do(t, j.SaveApproval(ctx, given))
		got = must.Get(j.Approval(ctx, "p1"))
		if d := cmp.Diff(given, got); d != "" {
			t.Error(d)
		}
		wants(t, "a request for no plan", j.AddApproval(ctx, asked("p2", 1)), fault.NotFound)
		wants(t, "an approval of no plan", j.SaveApproval(ctx, asked("p2", 1)), fault.NotFound)
		must.Do(t, j.SavePlan(ctx, plan("p3")))
		must.Do(t, j.SaveApproval(ctx, asked("p3", 1)))
		if _, err := j.Approval(ctx, "p3"); err != nil {
			t.Errorf("saved without a request before: %v", err)
		}
	})
	t.Run("UnansweredRequestsAreListedUntilTheyEnd", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		for i, a := range []store.ApprovalRecord{asked("p0", 5), asked("p1", 3), asked("p2", 1), asked("p3", 4), asked("p4", 6)} {
			must.Do(t, j.SavePlan(ctx, plan(a.Plan)))
			switch i {
			case 3:
				a.Cluster = "other"
			case 4:
				a.State = "approved"
			}
			must.Do(t, j.AddApproval(ctx, a))
		}
		for _, c := range []struct {
			after, limit int
			want         string
		}{{0, 9, "[p2 p1 p0]"}, {1, 9, "[p1 p0]"}, {0, 2, "[p2 p1]"}, {9, 9, "[]"}} {
			list := must.Get(j.ApprovalsAsked(ctx, "c", begin().Add(time.Duration(c.after)*time.Minute), c.limit))
			ids := []string{}
			for _, a := range list {
				ids = append(ids, a.Plan)
			}
			if got := fmt.Sprint(ids); got != c.want {
				t.Errorf("%+v: %s", c, got)
			}
		}
	})
	t.Run("AnApprovalGoesWithItsPlan", func(t *testing.T) {
		ctx, j := t.Context(), open(t)
		for _, id := range []string{"p1", "p2"} { // p2 was run
			must.Do(t, j.SavePlan(ctx, plan(id)))
			must.Do(t, j.AddApproval(ctx, asked(id, 1)))
		}
		must.Do(t, j.AddRun(ctx, runOf("r2", "p2")))
		n := must.Get(j.DropPlans(ctx, begin().Add(time.Hour), 10))
		_, err := j.Approval(ctx, "p1")
		if wants(t, "the approval of a removed plan", err, fault.NotFound); n != 1 {
			t.Errorf("%d plans removed", n)
		}
		if _, err := j.Approval(ctx, "p2"); err != nil {
			t.Errorf("of a plan that was run: %v", err)
		}
		wants(t, "a late request", j.AddApproval(ctx, asked("p1", 2)), fault.NotFound)
	})
}
