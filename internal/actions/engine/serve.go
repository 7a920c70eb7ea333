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

// Engine is a Service. Safe for concurrent use.
type Engine struct {
	o Options

	life  context.Context // of everything that runs; ended by Serve
	end   context.CancelFunc
	ready chan struct{} // closed when what an earlier process left open holds its locks
	group sync.WaitGroup

	mu     sync.Mutex
	live   map[string]*execution // open runs of this process, by id
	closed bool

	starting keyedMutex
	locks    locks
	cleanups cleanups
	ages     planAges

	subscribers notify.Subscribers

	unreadable sync.Map // ids of runs that the log knows to be unreadable
}

// Subscribe gives a channel that receives one value after a run changed, several
// joined into one. The last result ends it.
func (e *Engine) Subscribe() (<-chan struct{}, func()) { return e.subscribers.Subscribe() }

// New makes an engine that runs nothing before Serve.
func New(o Options) *Engine {
	e := &Engine{o: o.withDefaults(), ready: make(chan struct{}), live: map[string]*execution{}}
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

// Serve settles what an earlier process left open and lets plans run until ctx
// ends. Then it waits until every run has come to where the next process can go
// on: a command in flight is not waited for, its outcome is settled later.
func (e *Engine) Serve(ctx context.Context) error {
	defer func() {
		e.mu.Lock()
		e.closed = true
		e.mu.Unlock()
		e.end()
		e.group.Wait()
	}()
	if e.o.Journal.Owner() {
		if err := e.recover(ctx); err != nil {
			return ignoreEnd(ctx, err)
		}
	}
	close(e.ready)
	<-ctx.Done()
	return nil
}

func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// begin owns the goroutine of a run; false after the end.
func (e *Engine) begin(x *execution, run func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.live[x.id] = x
	e.group.Add(1)
	go func() {
		defer e.group.Done()
		run()
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.live, x.id)
	}()
	return true
}

func (e *Engine) executing(id string) *execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live[id]
}

// awaitReady waits until the runs of an earlier process hold their locks.
func (e *Engine) awaitReady(ctx context.Context) error {
	select {
	case <-e.ready:
		return nil
	case <-ctx.Done():
	case <-e.life.Done():
	}
	return fault.New(fault.Unavailable, "shardboard is starting or ending; nothing was started. Try again in a moment.")
}

// cluster is the id of the cluster that the table is of.
func (e *Engine) cluster() string { return e.o.Tables.Table().ClusterID }

// newID is 128 random bits in base32, which nobody can guess and everybody can read out.
func (e *Engine) newID() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(e.o.Random, b[:]); err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])), nil
}

// now is the time in the store's precision, so that what was kept compares equal.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
