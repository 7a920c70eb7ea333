package topology

import (
	"context"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/shardkey"
)

// sweep walks over all chunks of all collections again and again, slowly,
// because a jumbo flag bumps no version: neither when the balancer sets it nor,
// in the newest servers, when it is cleared. It also finds a map that is wrong
// for whatever reason, and has it read anew.
func (w *Watcher) sweep(ctx context.Context) error {
	select {
	case <-w.loaded:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		// The first load has read the flags a moment ago: pause first.
		if err := clock.Sleep(ctx, w.o.Sweep); err != nil {
			return err
		}
		for _, c := range w.Table().Collections {
			if err := w.sweepOne(ctx, c.NS); err != nil {
				return err
			}
		}
	}
}

// sweepBatch is how many chunk documents one read of the sweep takes at most.
const sweepBatch = 500

// sweepOne sweeps one collection. The error is the context's only: a failed
// read ends this collection's turn, and the routing poll reports the cause.
func (w *Watcher) sweepOne(ctx context.Context, ns Namespace) error {
	c := w.Table().Collection(ns)
	if c == nil {
		return nil
	}
	batch := min(sweepBatch, w.o.SweepPerSecond)
	from := c.Key.Min()
	for {
		begun := time.Now()
		n := 0
		last := from
		err := w.reread(ctx, c.Meta, from, batch, func(row Chunk) {
			n++
			last = row.Max
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// Pay for at least a twentieth of a second, so that many small collections
		// do not become many commands at once.
		cost := max(time.Second*time.Duration(n)/time.Duration(w.o.SweepPerSecond), 50*time.Millisecond)
		if err := clock.Sleep(ctx, cost-time.Since(begun)); err != nil {
			return err
		}
		if err != nil || n < batch || last.Compare(from) <= 0 {
			return nil
		}
		from = last
	}
}

// reread reads chunks in key order and takes their flags over where they are
// otherwise what the table has.
func (w *Watcher) reread(ctx context.Context, m Meta, from shardkey.Key, limit int, each func(Chunk)) error {
	read, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	var rows []Chunk
	err := w.src.ChunksFrom(read, m, from, limit, func(c Chunk) error {
		rows = append(rows, c)
		if each != nil {
			each(c)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.reflag(ctx, m, rows)
}

func (w *Watcher) reflag(ctx context.Context, m Meta, rows []Chunk) error {
	if err := w.routing.enter(ctx); err != nil {
		return err
	}
	defer w.routing.leave()
	c := w.Table().Collection(m.NS)
	if c == nil || !sameLife(c.Meta, m) {
		return nil
	}
	chunks, missed := c.Chunks.Reflag(rows)
	if missed {
		w.o.Log.Warn("chunk table differs from the cluster's, reading it anew", "namespace", m.NS)
		if w.router.reload == nil {
			w.router.reload = make(map[Namespace]bool)
		}
		w.router.reload[m.NS] = true
	}
	if chunks == c.Chunks {
		return nil
	}
	w.publish(func(t *Table) bool {
		t.replace(&Collection{Meta: c.Meta, Highest: c.Highest, Chunks: chunks})
		return true
	})
	return nil
}
