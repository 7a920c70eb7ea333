package survey

import (
	"bytes"
	"context"
	"slices"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/store"
)

// leadership is the part of a store that tells which process measures.
type leadership interface {
	Leads() bool
	Lead(ctx context.Context, work func(context.Context) error) error
}

// followEvery is how often a process that does not measure reads what another one measures.
const followEvery = 2 * time.Second

// forget makes the next use read the stored surveys.
func (e *Engine) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.loaded = false
}

// follow reads the surveys again when another process has changed them.
func (e *Engine) follow(ctx context.Context, l leadership) {
	var last []store.Survey
	failed := false
	for clock.Sleep(ctx, followEvery) == nil {
		t := e.tables.Table()
		if l.Leads() || t == nil || !t.Loaded {
			last = nil
			continue
		}
		heads, err := e.o.Store.SurveyHeads(ctx, t.ClusterID, keptSurveys+queueLength)
		if err == nil && (last == nil || !slices.EqualFunc(heads, last, sameHead)) {
			last = heads
			e.forget()
			err = e.load(ctx)
		}
		if err != nil && !failed && ctx.Err() == nil {
			e.o.Log.Warn("read the surveys of the shardboard that leads", "err", err)
		}
		failed = err != nil
	}
}

func sameHead(a, b store.Survey) bool { return a.ID == b.ID && bytes.Equal(a.Head, b.Head) }

// Reread reads the surveys of another process again, so that a page shows what was just asked for. A
// failure is tried again soon.
func (e *Engine) Reread(ctx context.Context) {
	if e.leads() {
		return
	}
	e.forget()
	_ = e.load(ctx)
}
