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

	"shardboard/internal/notify"
)

// Engine implements Service. It is safe for concurrent use.
type Engine struct {
	*base
	planning
	approvals

	ctx    context.Context // ends after Serve
	cancel context.CancelFunc

	mu         sync.Mutex
	executions map[string]*execution // open runs of this process, by id
	ended      map[State]int64       // runs that ended since the start
	followed   []Run                 // open runs of the process that leads, if it is another one
	term       *term                 // nil while this process does not lead
	changed    chan struct{}         // closed at the next change of term

	planLocks keyedMutex
	locks     locks
}

// base is what all parts of the engine use: the options with the store, and who is told of changes.
type base struct {
	opts        Options
	subscribers notify.Subscribers

	loggedUnreadable sync.Map // ids of unreadable runs that were already logged
}

// planning reads what plans are made from.
type planning struct {
	*base
	cleanups completedCleanups
}

// approvals decides whether a plan has the approval that it needs.
type approvals struct {
	*base
	expiry  planExpiry // also of plans
	runByID func(context.Context, string) (Run, error)
}

// New returns an engine that runs nothing until Serve is called.
func New(o Options) *Engine {
	b := &base{opts: o.withDefaults()}
	e := &Engine{base: b, planning: planning{base: b}, approvals: approvals{base: b}, changed: make(chan struct{}),
		executions: map[string]*execution{}}
	e.runByID = e.RunByID
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// executionOf returns the execution of a run that this process has open, or nil.
func (e *Engine) executionOf(id string) *execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.executions[id]
}

// clusterID identifies the cluster that the routing table describes.
func (e *base) clusterID() string { return e.opts.Tables.Table().ClusterID }

// newID returns 128 random bits in base32, which nobody can guess and people can
// read out.
func (e *base) newID() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(e.opts.Random, b[:]); err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])), nil
}

// now is the current time in the precision of the store, so that a stored time
// compares equal to the original.
func (e *base) now() time.Time { return e.opts.Now().UTC().Truncate(time.Millisecond) }
