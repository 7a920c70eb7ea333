package topology

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/notify"
)

// Watcher keeps a Table of one cluster at most one poll old. Everything that
// can fail happens before one atomic swap: a failed poll leaves the last table
// in place and only its Health tells. Safe for concurrent use.
type Watcher struct {
	src Source
	o   Options

	table  atomic.Pointer[Table]
	loaded chan struct{} // closed once the first table is loaded
	saved  saved

	mu          sync.Mutex // held while a table is published or subscribed to
	subscribers notify.Subscribers

	routing gate // held while chunk maps are read and replaced
	slow    gate // held during a slow poll
	events  gate // held while the changelog is read
	wakeup  chan struct{}

	follower  follower
	unsettled atomic.Bool // collections were found that the last poll could not read, or without chunks
	router    router      // state of the routing poll, guarded by routing
	suspects  suspects
	flagged   int // how many flagged chunks were read again; the sweep's
	rounds    roundsDue
	viewed    viewed
}

// gate lets one goroutine through at a time and gives up with the context.
type gate chan struct{}

func (g gate) enter(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// ended is why a read of the cluster was given up: the caller's own end, or a
// time limit within which the cluster did not answer.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.NoAnswer(ctx.Err(), "The cluster did not answer in time.")
	}
	return ctx.Err()
}

func (g gate) leave() { <-g }

// NewWatcher makes a watcher that reads nothing until Run, Refresh or Load.
func NewWatcher(src Source, o Options) *Watcher {
	w := &Watcher{
		src: src, o: o.withDefaults(),
		loaded:  make(chan struct{}),
		routing: make(gate, 1), slow: make(gate, 1), events: make(gate, 1),
		wakeup: make(chan struct{}, 1),
		follower: follower{named: map[Namespace]namedRead{}, last: map[Namespace]time.Time{},
			come: make(chan struct{}, 1), moving: make(chan struct{}, 1)},
	}
	w.saved.take(&w.o)
	w.table.Store(&Table{ClusterID: w.o.Known, Began: time.Now(), Health: map[Part]Health{}, every: w.o.every()})
	return w
}

// Table is the current state; never nil, not Loaded before the first reads.
func (w *Watcher) Table() *Table { return w.table.Load() }

// Subscribe gives the current table and a channel that receives whenever a
// newer one is there: no table falls between the two. Notifications coalesce,
// so a slow reader misses states but never the newest. The last result ends
// the subscription.
func (w *Watcher) Subscribe() (*Table, <-chan struct{}, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	newer, end := w.subscribers.Subscribe()
	return w.table.Load(), newer, end
}

// Run polls until the context ends, and returns when all that it started has
// ended. A cluster that cannot be reached, that refuses the credentials or is
// none is tried again for ever: what is wrong may be mended outside.
func (w *Watcher) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return w.routingLoop(ctx) })
	g.Go(func() error { return w.slowLoop(ctx) })
	g.Go(func() error { return w.statistics(ctx) })
	g.Go(func() error { return w.sweep(ctx) })
	g.Go(func() error { return w.watchMoves(ctx) })
	g.Go(func() error { return w.follow(ctx) })
	g.Go(func() error { return w.watchCursors(ctx) })
	g.Go(func() error { return w.watchAnswers(ctx) })
	err := g.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Refresh polls routing and all slow parts now and returns when the table has
// the result. The error is the routing poll's; the parts' are in Health.
func (w *Watcher) Refresh(ctx context.Context) error {
	err := w.pollRouting(ctx)
	return errors.Join(err, w.pollSlow(ctx))
}

// Load reads everything but sizes once and gives the table, for commands that
// answer one question and end.
func (w *Watcher) Load(ctx context.Context) (*Table, error) {
	if err := w.Refresh(ctx); err != nil {
		return nil, err
	}
	if len(w.router.empty) > 0 { // without chunks: being created or dropped, or damaged
		if err := clock.Sleep(ctx, emptyAfter); err != nil {
			return nil, err
		}
		if err := w.pollRouting(ctx); err != nil {
			return nil, err
		}
	}
	t := w.Table()
	if t.unconfirmed() {
		if err := w.Refresh(ctx); err != nil {
			return nil, err
		}
		t = w.Table()
	}
	if !t.Loaded {
		for _, p := range loadedParts {
			if err := t.Health[p].Err; err != nil {
				return nil, err
			}
		}
		return nil, fault.New(fault.Unavailable, "The routing table could not be read completely.")
	}
	w.listUnsharded(ctx)
	return w.Table(), ended(ctx)
}

func (w *Watcher) routingLoop(ctx context.Context) error {
	failed := 0
	for {
		err := w.pollRouting(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pause := w.o.Routing
		if err != nil {
			failed++
			pause = jittered(min(w.o.Routing<<min(failed-1, 16), max(w.o.MaxBackoff, w.o.Routing)))
		} else {
			if failed > 0 {
				w.wake() // the slow parts need not wait for their turn to recover too
			}
			failed = 0
		}
		if err := w.untilPoll(ctx, pause); err != nil {
			return err
		}
	}
}

// untilPoll waits until all collections are to be polled again. While the changelog is followed that is seldom, and
// meanwhile the collections that its entries name are read.
func (w *Watcher) untilPoll(ctx context.Context, pause time.Duration) error {
	began := time.Now()
	for {
		until := began.Add(pause)
		wake := until
		if w.follower.isLive() {
			if w.follower.takeWhole() {
				return nil
			}
			list, next := w.follower.due(time.Now())
			if len(list) > 0 {
				if err := w.pollNamed(ctx, list); err != nil {
					return ctx.Err() // a poll of all tells what is wrong
				}
				continue
			}
			w.tellOwed() // what was owed when its collections had been read already
			until = began.Add(max(pause, w.followedPoll()))
			if wake = until; !next.IsZero() && next.Before(until) {
				wake = next
			}
		}
		if !time.Now().Before(until) {
			return nil
		}
		if err := sleepOr(ctx, time.Until(wake), w.follower.come); err != nil {
			return err
		}
	}
}

// sleepOr sleeps until the pause is over or early has something, or until the context ends, which is the error.
func sleepOr(ctx context.Context, pause time.Duration, early <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
	case <-early:
	}
	return nil
}

// followedPoll is the pause between two polls while the changelog is followed: each collection is polled every 30 s,
// also where a poll asks for a part of them. What is damaged or not understood yet may be mended without an entry.
func (w *Watcher) followedPoll() time.Duration {
	t := w.Table()
	damaged := slices.ContainsFunc(t.Damaged, func(d *Damage) bool { return d.NoRoom == nil })
	if damaged || t.unconfirmed() || w.unsettled.Load() {
		return w.o.Routing
	}
	parts := 1 + len(t.Collections)/w.o.RotateAbove
	return max(followedPoll/time.Duration(parts), w.o.Routing)
}

// jittered is a pause up to a tenth longer or shorter, so that several shardboards do
// not all come back at the same moment.
func jittered(pause time.Duration) time.Duration {
	return pause*9/10 + time.Duration(rand.Int64N(int64(pause/5)+1))
}

func (w *Watcher) slowLoop(ctx context.Context) error {
	for {
		// The error is in Health; the next turn comes as usual.
		_ = w.pollSlow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := sleepOr(ctx, w.o.Slow, w.wakeup); err != nil {
			return err
		}
	}
}

// wake lets the slow poll begin now.
func (w *Watcher) wake() { signal(w.wakeup) }
