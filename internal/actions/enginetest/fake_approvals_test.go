package enginetest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

func (h *Handle) AddApproval(_ context.Context, a store.ApprovalRecord) error {
	return h.putApproval(a, true)
}

func (h *Handle) SaveApproval(_ context.Context, a store.ApprovalRecord) error {
	return h.putApproval(a, false)
}

func (h *Handle) putApproval(a store.ApprovalRecord, first bool) error {
	what := "approval"
	if first { // by any process, with the plan
		what = "asked"
	}
	return h.write(Write{What: what}, func() error {
		if _, removed := h.removed[a.Plan]; removed {
			return store.ErrPlanRemoved
		}
		if _, there := h.plans[a.Plan]; !there {
			return fault.New(fault.NotFound, "There is no such plan.")
		}
		if _, there := h.asked[a.Plan]; there && first {
			return fault.New(fault.Conflict, "There is such an approval.")
		}
		a.Body = bytes.Clone(a.Body)
		h.asked[a.Plan] = a
		return nil
	})
}

func (h *Handle) Approval(_ context.Context, plan string) (store.ApprovalRecord, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a, there := h.asked[plan]
	if !there {
		return a, fault.New(fault.NotFound, "There is no such approval.")
	}
	return a, h.checkCut()
}

func (h *Handle) ApprovalsAsked(_ context.Context, cluster string, after time.Time, limit int) (out []store.ApprovalRecord, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.asked {
		if a.Cluster == cluster && a.State == store.ApprovalAsked && a.Until.After(after) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b store.ApprovalRecord) int {
		return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Plan, b.Plan))
	})
	return out[:min(len(out), limit)], h.checkCut()
}
