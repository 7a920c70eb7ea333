package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// Write is one write to the disk.
type Write struct {
	N    int    // counts from 1, across restarts of the process
	What string // "plan", "run", "save", "intent", "confirm", "audit", "asked", "approval"
	Run  string // id, if any
	Step int    // of an intent
}

// Disk is what remains when a process ends: plans, runs, intents and the audit
// record. A process uses it through a Handle of its own.
type Disk struct {
	mu      sync.Mutex
	plans   map[string]store.PlanRecord
	removed map[string]time.Time            // when removed plans, which were never run, were made
	asked   map[string]store.ApprovalRecord // by plan
	runs    []store.RunRecord
	intents []store.IntentRecord
	entries []store.AuditEntry
	writes  int
	// before and after are called at every write, without locks. An error of before
	// means that nothing was written; an error of after means that the data was
	// written but the write still failed, like a failed fsync.
	before, after func(Write) error
	lost          error // the error of every write while it is set
	term          int64 // grows with each new leader; 0: processes do not share the disk
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	return &Disk{plans: map[string]store.PlanRecord{}, removed: map[string]time.Time{}, asked: map[string]store.ApprovalRecord{}}
}

// Fail sets which writes fail; nil means none.
func (d *Disk) Fail(before, after func(Write) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before, d.after = before, after
}

// ErrDisk is the error of a full disk.
var ErrDisk = fault.New(fault.Unavailable, "The disk is full.")

// FailNth fails the nth write from now that matches what; more makes all later ones
// fail too.
func FailNth(what string, n int, more bool) func(Write) error {
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

// Handle is the access of one process to the disk. After Cut it no longer works.
type Handle struct {
	*Disk
	once   sync.Once
	cut    chan struct{}
	tenure tenure
	stored int // writes that have reached the disk; guarded by Disk.mu
}

// Open returns the handle of a new process.
func (d *Disk) Open() *Handle { return &Handle{Disk: d, cut: make(chan struct{})} }

// Cut ends the process as far as the disk is concerned.
func (h *Handle) Cut() { h.once.Do(func() { close(h.cut) }) }

// RefuseWrites makes every write fail with err from now on; nil makes them succeed.
func (h *Handle) RefuseWrites(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = err
}

var errCut = errors.New("the process has ended")

func (h *Handle) checkCut() error {
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
	if err := h.checkCut(); err != nil {
		return err
	}
	if err := h.leaderOnly(w.What); err != nil {
		return err
	}
	h.mu.Lock()
	err := do()
	if err == nil {
		h.stored++
	}
	h.mu.Unlock()
	if err == nil && after != nil {
		err = after(w)
	}
	return err
}

// Recorded returns the audit entries of a kind.
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

// allRuns returns the runs on the disk.
func (d *Disk) allRuns() (out []engine.Run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, record := range slices.Clone(d.runs) {
		var run engine.Run
		if json.Unmarshal(record.Body, &run) == nil {
			out = append(out, run)
		}
	}
	return out
}

// savedRun returns a run as it is on the disk.
func (d *Disk) savedRun(id string) (store.RunRecord, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.runs, func(r store.RunRecord) bool { return r.ID == id })
	if i < 0 {
		return store.RunRecord{}, false
	}
	return d.runs[i], true
}

// intentsOf are the runs that the intents of a batch name, and when.
func (d *Disk) intentsOf(batch string) map[string]time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]time.Time{}
	for _, i := range d.intents {
		if run, ok := bson.Raw(i.Command).Lookup("run").StringValueOK(); i.Run == batch && ok {
			out[run] = i.At
		}
	}
	return out
}

// tenure is what a process that shares its disk knows about who leads.
type tenure struct {
	mu      sync.Mutex
	term    int64 // 0: does not lead, as far as it knows
	ctx     context.Context
	end     context.CancelFunc
	changed chan struct{} // closed at the next change; made when it is needed
}

type termKey struct{}

// Share makes the disk a store of several processes, of which none leads yet. Call it before their
// handles are opened.
func (d *Disk) Share() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.term = 1
}

// writtenBy counts what a process has written.
func (d *Disk) writtenBy(h *Handle) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return h.stored
}

// Elect makes the process of h the leader. The former leader is not told: it finds out when it
// writes, like a process that was paused.
func (h *Handle) Elect() {
	h.Disk.mu.Lock()
	h.Disk.term++
	term := h.Disk.term
	h.Disk.mu.Unlock()
	t := &h.tenure
	t.mu.Lock()
	defer t.mu.Unlock()
	t.term = term
	t.ctx, t.end = context.WithCancel(context.WithValue(context.Background(), termKey{}, term))
	t.wake()
}

// Depose tells a process that it does not lead any more.
func (h *Handle) Depose() {
	t := &h.tenure
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.term != 0 {
		t.term = 0
		t.end()
		t.wake()
	}
}

func (t *tenure) wake() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

func (t *tenure) next() (context.Context, int64, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.ctx, t.term, t.changed
}

func (h *Handle) shared() (term int64, is bool) {
	h.Disk.mu.Lock()
	defer h.Disk.mu.Unlock()
	return h.Disk.term, h.Disk.term != 0
}

// Leads is what the process believes.
func (h *Handle) Leads() bool {
	_, shared := h.shared()
	_, term, _ := h.tenure.next()
	return !shared || term != 0
}

// Lead calls work while the process leads.
func (h *Handle) Lead(ctx context.Context, work func(context.Context) error) error {
	if _, shared := h.shared(); !shared {
		return store.LeadAlways(ctx, true, work)
	}
	for {
		leading, term, changed := h.tenure.next()
		if term == 0 {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
			}
			continue
		}
		leading, cancel := context.WithCancel(leading)
		stop := context.AfterFunc(ctx, cancel)
		err := work(leading)
		stop()
		cancel()
		if ctx.Err() != nil || err != nil {
			return err
		}
	}
}

func (h *Handle) Leader() store.Leader {
	_, shared := h.shared()
	return store.Leader{Here: h.Leads(), Shared: shared}
}

// ConfirmLead writes the fence.
func (h *Handle) ConfirmLead(ctx context.Context) error {
	if err := h.fenced(ctx); err != nil {
		return err
	}
	if _, shared := h.shared(); !shared {
		return h.Writable()
	}
	return h.write(Write{What: "confirm"}, func() error { return nil })
}

// fenced refuses what is written with the context of an earlier term.
func (h *Handle) fenced(ctx context.Context) error {
	of, leading := ctx.Value(termKey{}).(int64)
	if now, shared := h.shared(); shared && leading && of != now {
		h.Depose()
		return store.ErrNotLeading
	}
	return nil
}

// leaderOnly refuses what only the leader may write.
func (h *Handle) leaderOnly(what string) error {
	now, shared := h.shared()
	_, term, _ := h.tenure.next()
	if !shared || term == now || what == "plan" || what == "asked" || what == "audit" {
		return nil
	}
	h.Depose()
	return store.ErrNotLeading
}
