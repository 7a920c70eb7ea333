package enginetest

import (
	"context"
	"sync"

	"shardboard/internal/store"
)

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
