package enginetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// Write is one write to the disk.
type Write struct {
	N    int    // counts up from 1, over all lives of the process
	What string // "plan", "run", "save", "intent", "audit"
	Run  string // id, where there is one
	Step int    // of an intent
}

// Disk is what stays when a process ends: plans, runs, intents and the audit
// record. A process works on it by a Handle of its own.
type Disk struct {
	mu      sync.Mutex
	plans   map[string]store.PlanRecord
	removed map[string]time.Time // plans that were never run, by when they were made
	runs    []store.RunRecord
	intents []store.IntentRecord
	entries []store.AuditEntry
	writes  int
	// Before and After are asked at every write, without locks: an error of Before
	// means that nothing was written, one of After that it was and that nobody
	// knows (a failed fsync). Set them before the engine starts or between calls.
	before, after func(Write) error
	lost          error // of every write, while it is set
}

// NewDisk is an empty one.
func NewDisk() *Disk {
	return &Disk{plans: map[string]store.PlanRecord{}, removed: map[string]time.Time{}}
}

// Fail sets what goes wrong; nil: nothing.
func (d *Disk) Fail(before, after func(Write) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before, d.after = before, after
}

// ErrDisk is a disk that is full.
var ErrDisk = fault.New(fault.Unavailable, "The disk is full.")

// Nth fails the nth write from now that fits; more says whether those after it
// fail too.
func Nth(what string, n int, more bool) func(Write) error {
	var mu sync.Mutex
	return func(w Write) error {
		mu.Lock()
		defer mu.Unlock()
		if what != "" && w.What != what {
			return nil
		}
		if n--; n == 0 || n < 0 && more {
			return ErrDisk
		}
		return nil
	}
}

// Handle is a process's way to the disk. After Cut nothing of it gets through.
type Handle struct {
	*Disk
	once sync.Once
	cut  chan struct{}
}

// Open is a new process's handle.
func (d *Disk) Open() *Handle { return &Handle{Disk: d, cut: make(chan struct{})} }

// Cut is the end of the process as the disk sees it.
func (h *Handle) Cut() { h.once.Do(func() { close(h.cut) }) }

// Owner is always this process.
func (h *Handle) Owner() bool { return true }

// Writable is as Lose has it.
func (h *Handle) Writable() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// Lose has every write refused from now on, with nil none.
func (h *Handle) Lose(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = err
}

var errCut = errors.New("the process has ended")

func (h *Handle) gone() error {
	select {
	case <-h.cut:
		return errCut
	default:
		return nil
	}
}

func (h *Handle) write(w Write, do func() error) error {
	h.mu.Lock()
	h.writes++
	w.N = h.writes
	before, after, lost := h.before, h.after, h.lost
	h.mu.Unlock()
	if lost != nil {
		return lost
	}
	if before != nil {
		if err := before(w); err != nil {
			return err
		}
	}
	if err := h.gone(); err != nil {
		return err
	}
	h.mu.Lock()
	err := do()
	h.mu.Unlock()
	if err == nil && after != nil {
		err = after(w)
	}
	return err
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
	return p, h.gone()
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
		return h.runs[i], h.gone()
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
	return out, h.gone()
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
	return out, h.gone()
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
	return out, h.gone()
}

func (h *Handle) Append(_ context.Context, e store.AuditEntry) (store.AuditRecord, error) {
	err := h.write(Write{What: "audit"}, func() error { h.entries = append(h.entries, e); return nil })
	return store.AuditRecord{AuditEntry: e}, err
}

// Recorded are the audit entries of a kind so far.
func (d *Disk) Recorded(what string) (out []store.AuditEntry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		if e.What == what {
			out = append(out, e)
		}
	}
	return out
}
