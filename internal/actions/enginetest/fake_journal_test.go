package enginetest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/storetest"
)

// The engine is tested with a fake journal, so the fake has to behave like the real
// one.
func TestFakeDiskBehavesLikeAJournal(t *testing.T) {
	storetest.Journal(t, func(*testing.T) store.Journal { return NewDisk().Open() })
}

// Writable returns the error that was passed to RefuseWrites.
func (h *Handle) Writable() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

func (h *Handle) SavePlan(_ context.Context, p store.PlanRecord) error {
	return h.write(Write{What: "plan"}, func() error {
		if _, there := h.plans[p.ID]; there {
			return fault.New(fault.Conflict, "There is such a plan.")
		}
		h.plans[p.ID] = p
		return nil
	})
}

func (h *Handle) PlanRecord(_ context.Context, id string) (store.PlanRecord, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.plans[id]
	if _, removed := h.removed[id]; removed {
		return p, store.ErrPlanRemoved
	}
	if !ok {
		return p, fault.New(fault.NotFound, "There is no such plan.")
	}
	return p, h.checkCut()
}

func (h *Handle) UnrunPlans(_ context.Context, cluster string, since time.Time, limit int) (out []store.PlanRecord, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.plans {
		run := slices.ContainsFunc(h.runs, func(r store.RunRecord) bool { return r.Plan == p.ID })
		if p.Cluster == cluster && !p.Made.Before(since) && !run {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b store.PlanRecord) int { return b.Made.Compare(a.Made) })
	return out[:min(len(out), limit)], h.checkCut()
}

func (h *Handle) DropPlans(_ context.Context, before time.Time, limit int) (int, error) {
	var old []store.PlanRecord
	err := h.write(Write{What: "drop"}, func() error {
		for id, made := range h.removed {
			if made.Before(before.Add(store.PlanKept - store.PlanRemembered)) {
				delete(h.removed, id)
			}
		}
		for _, p := range h.plans {
			if p.Made.Before(before) && !slices.ContainsFunc(h.runs, func(r store.RunRecord) bool { return r.Plan == p.ID }) {
				old = append(old, p)
			}
		}
		slices.SortFunc(old, func(a, b store.PlanRecord) int { return a.Made.Compare(b.Made) })
		old = old[:min(len(old), limit)]
		for _, p := range old {
			h.removed[p.ID] = p.Made
			delete(h.plans, p.ID)
			delete(h.asked, p.ID)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(old), nil
}

func (h *Handle) find(is func(store.RunRecord) bool) (store.RunRecord, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.IndexFunc(h.runs, is); i >= 0 {
		return h.runs[i], h.checkCut()
	}
	return store.RunRecord{}, fault.New(fault.NotFound, "There is no such run.")
}

func (h *Handle) AddRun(_ context.Context, r store.RunRecord) error {
	return h.write(Write{What: "run", Run: r.ID}, func() error {
		if slices.ContainsFunc(h.runs, func(o store.RunRecord) bool { return o.ID == r.ID || o.Plan == r.Plan }) {
			return fault.New(fault.Conflict, "There is such a run.")
		}
		if _, there := h.plans[r.Plan]; !there {
			return fault.New(fault.NotFound, "There is no such plan.")
		}
		r.Seq, r.Body = int64(len(h.runs)+1), bytes.Clone(r.Body)
		h.runs = append(h.runs, r)
		return nil
	})
}

func (h *Handle) SaveRun(_ context.Context, r store.RunRecord) error {
	return h.write(Write{What: "save", Run: r.ID}, func() error {
		i := slices.IndexFunc(h.runs, func(o store.RunRecord) bool { return o.ID == r.ID })
		if i < 0 {
			return fault.New(fault.NotFound, "There is no such run.")
		}
		r.Seq, r.Body = h.runs[i].Seq, bytes.Clone(r.Body)
		h.runs[i] = r
		return nil
	})
}

func (h *Handle) RunRecord(_ context.Context, id string) (store.RunRecord, error) {
	return h.find(func(r store.RunRecord) bool { return r.ID == id })
}

func (h *Handle) PlanRun(_ context.Context, plan string) (store.RunRecord, error) {
	return h.find(func(r store.RunRecord) bool { return r.Plan == plan })
}

func (h *Handle) RunRecords(_ context.Context, cluster string, before int64, limit int) ([]store.RunRecord, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []store.RunRecord
	for _, r := range slices.Backward(h.runs) {
		if r.Cluster == cluster && (before == 0 || r.Seq < before) && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, h.checkCut()
}

func (h *Handle) OpenRuns(_ context.Context, cluster string) ([]store.RunRecord, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []store.RunRecord
	for _, r := range h.runs {
		if r.Open && r.Cluster == cluster {
			out = append(out, r)
		}
	}
	return out, h.checkCut()
}

func (h *Handle) AddIntent(_ context.Context, i store.IntentRecord) error {
	return h.write(Write{What: "intent", Run: i.Run, Step: i.Step}, func() error {
		if slices.ContainsFunc(h.intents, func(o store.IntentRecord) bool { return o.Run == i.Run && o.Step == i.Step }) {
			return fault.New(fault.Conflict, "There is such an intent.")
		}
		i.Command = bytes.Clone(i.Command)
		h.intents = append(h.intents, i)
		return nil
	})
}

func (h *Handle) Intents(_ context.Context, run string) ([]store.IntentRecord, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []store.IntentRecord
	for _, i := range h.intents {
		if i.Run == run {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b store.IntentRecord) int { return a.Step - b.Step })
	return out, h.checkCut()
}

func (h *Handle) Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error) {
	if err := h.fenced(ctx); err != nil {
		return store.AuditRecord{}, err
	}
	err := h.write(Write{What: "audit"}, func() error { h.entries = append(h.entries, e); return nil })
	return store.AuditRecord{AuditEntry: e}, err
}

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
