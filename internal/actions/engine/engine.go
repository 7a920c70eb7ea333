// Package engine makes plans and runs them: plan, confirm, run, prove, undo.
//
// It promises three things. A command is sent at most once for each intent, and
// only after the intent is on disk and the preconditions of the command were read
// from the cluster again. A step has succeeded only when its effect was read from
// the cluster after the command. A command without an answer leaves the run in a
// state of its own, which this process or the next one resolves by reading the
// cluster and never by sending the command again.
package engine

import (
	"context"
	"encoding/base32"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/notify"
)

// Engine implements Service. It is safe for concurrent use.
type Engine struct {
	opts Options

	ctx        context.Context // of all runs; Serve cancels it
	cancel     context.CancelFunc
	ready      chan struct{} // closed when the runs of an earlier process hold their locks
	goroutines sync.WaitGroup

	mu         sync.Mutex
	executions map[string]*execution // open runs of this process, by id
	closed     bool

	planLocks keyedMutex
	locks     locks
	cleanups  completedCleanups
	expiry    planExpiry

	subscribers notify.Subscribers

	loggedUnreadable sync.Map // ids of unreadable runs that were already logged
}

// New returns an engine that runs nothing until Serve is called.
func New(o Options) *Engine {
	e := &Engine{opts: o.withDefaults(), ready: make(chan struct{}), executions: map[string]*execution{}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// Serve first takes over the runs that an earlier process left open, then lets plans
// run until ctx ends. It returns when every run has reached a point from which the
// next process can continue. It does not wait for a command that the cluster is
// executing: the next process resolves its outcome.
func (e *Engine) Serve(ctx context.Context) error {
	defer func() {
		e.mu.Lock()
		e.closed = true
		e.mu.Unlock()
		e.cancel()
		e.goroutines.Wait()
	}()
	if e.opts.Journal.Owner() {
		if err := e.recoverRuns(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
	close(e.ready)
	<-ctx.Done()
	return nil
}

// launch executes a run in a goroutine that Serve waits for. It returns false when
// Serve has ended.
func (e *Engine) launch(x *execution, run func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.executions[x.id] = x
	e.goroutines.Add(1)
	go func() {
		defer e.goroutines.Done()
		run()
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.executions, x.id)
	}()
	return true
}

// executionOf returns the execution of a run that this process has open, or nil.
func (e *Engine) executionOf(id string) *execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.executions[id]
}

// awaitReady waits until the runs of an earlier process hold their locks.
func (e *Engine) awaitReady(ctx context.Context) error {
	select {
	case <-e.ready:
		return nil
	case <-ctx.Done():
	case <-e.ctx.Done():
	}
	return fault.New(fault.Unavailable, "shardboard is starting up or shutting down; nothing was started. Try again in a moment.")
}

// clusterID identifies the cluster that the routing table describes.
func (e *Engine) clusterID() string { return e.opts.Tables.Table().ClusterID }

// newID returns 128 random bits in base32, which nobody can guess and people can
// read out.
func (e *Engine) newID() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(e.opts.Random, b[:]); err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])), nil
}

// now is the current time in the precision of the store, so that a stored time
// compares equal to the original.
func (e *Engine) now() time.Time { return e.opts.Now().UTC().Truncate(time.Millisecond) }
