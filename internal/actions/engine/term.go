package engine

import (
	"context"
	"sync"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// term is one time of leading, in which plans are run. Its runs do not outlive it: the
// next leader, which may be this process again, takes them over.
type term struct {
	ctx        context.Context
	ready      chan struct{} // closed when the runs of an earlier process have their claims
	goroutines sync.WaitGroup
}

// Serve lets plans run while this process leads, until ctx ends. It returns when every
// run has reached a point from which the next process can continue. It does not wait
// for a command that the cluster is executing: the next process resolves its outcome.
func (e *Engine) Serve(ctx context.Context) error {
	defer e.cancel()
	if e.opts.Journal.Leader().Shared {
		var following sync.WaitGroup
		defer following.Wait()
		following.Go(func() { e.follow(ctx) })
	}
	return e.opts.Journal.Lead(ctx, e.lead)
}

// lead takes over the runs that an earlier process left open, and then lets plans run
// until ctx ends.
func (e *Engine) lead(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	t := &term{ctx: ctx, ready: make(chan struct{})}
	e.setTerm(t)
	defer func() {
		e.setTerm(nil) // before the end, so that no run begins any more
		cancel()
		t.goroutines.Wait()
		e.subscribers.Notify() // runs are read from the store now
	}()
	if err := e.recoverRuns(t); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	close(t.ready)
	<-ctx.Done()
	return nil
}

func (e *Engine) setTerm(t *term) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.term = t
	close(e.changed)
	e.changed = make(chan struct{})
}

// launch executes a run in a goroutine that its term waits for. It returns false when
// the term has ended.
func (e *Engine) launch(t *term, x *execution, run func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.term != t || t.ctx.Err() != nil {
		return false
	}
	e.executions[x.id] = x
	t.goroutines.Add(1)
	go func() {
		defer t.goroutines.Done()
		defer close(x.done) // after it was removed below
		run()
		if s := x.current().State; !s.Open() {
			e.countEnd(s)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.executions, x.id)
	}()
	return true
}

// awaitReady waits until the runs of an earlier process hold their locks.
func (e *Engine) awaitReady(ctx context.Context) (*term, error) {
	for {
		if !e.opts.Journal.Leads() {
			return nil, store.ErrNotLeading
		}
		e.mu.Lock()
		t, next := e.term, (<-chan struct{})(e.changed)
		e.mu.Unlock()
		ready := (<-chan struct{})(nil)
		if t != nil {
			ready = t.ready
		}
		select {
		case <-ready:
			return t, nil
		case <-next:
			continue
		case <-ctx.Done():
		case <-e.ctx.Done():
		}
		return nil, fault.New(fault.Unavailable, "shardboard is starting up or shutting down; nothing was started. Try again in a moment.")
	}
}

// confirmLead makes sure, right before a command is sent, that what follows is still
// this process's to do. Since the intent was written, the preconditions were read,
// which takes a while: the data directory may be gone by now, or this process may have
// been paused for so long that another one leads.
func (x *execution) confirmLead() error {
	j := x.e.opts.Journal
	if err := j.Writable(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(x.ctx, saveTimeout)
	defer cancel()
	if err := j.ConfirmLead(ctx); err != nil {
		return err
	}
	return x.stillLeads()
}

// stillLeads looks at this process's clock and asks nobody, so it is the last check
// before a command is written to its connection: a pause since the lead was confirmed,
// for instance while a connection was made, is noticed here.
func (x *execution) stillLeads() error {
	if x.ctx.Err() != nil || !x.e.opts.Journal.Leads() {
		return store.ErrNotLeading
	}
	return nil
}
