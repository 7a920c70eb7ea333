package topology

import (
	"context"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
)

// The balancer sets a jumbo flag without a new version, and the newest servers clear one
// without, so that the routing poll sees neither. The signs are cheap: a move that failed
// names its chunk (suspects.go), and what is flagged is read again and again. The sweep is
// behind both: it walks over all chunks, so slowly that it costs less than the polls. It
// also finds a map that is wrong for whatever reason, and has it read anew.
//
// It keeps its place: a pass over a million chunks takes most of a day. Table.FlagsRead
// tells how old flags can be.
type sweeper struct {
	ns    Namespace    // where it is; empty: at the begin of a pass
	from  shardkey.Key // the next chunk of that collection; zero: its first
	life  Incarnation  // of the collection when from was reached
	begun time.Time    // when the collection's first chunk was read
	pass  time.Time    // when the pass began
}

const (
	// sweepEvery is the pause between two steps. A step reads a part of the documents of
	// a minute.
	sweepEvery = 30 * time.Second
	// sweepCommands bounds the collections of a step: those with few chunks cost a command
	// each.
	sweepCommands = 10
	// flaggedPerStep is how many chunks that are flagged already a step reads again.
	flaggedPerStep = 50
)

func (w *Watcher) sweep(ctx context.Context) error {
	select {
	case <-w.loaded:
	case <-ctx.Done():
		return ctx.Err()
	}
	// The first load has read the flags a moment ago: pause first.
	s := sweeper{pass: time.Now()}
	pause := min(sweepEvery, w.o.Sweep)
	for {
		if err := clock.Sleep(ctx, pause); err != nil {
			return err
		}
		if err := w.rereadFlagged(ctx); err != nil {
			return err
		}
		if s.ns == "" && time.Since(s.pass) < w.o.Sweep {
			continue // a pass over few chunks begins once a minute
		}
		perMinute := int64(w.o.SweepPerMinute)
		if w.follower.isLive() {
			perMinute /= followedSweep
		}
		if err := w.sweepStep(ctx, &s, max(1, int(perMinute*int64(pause)/int64(time.Minute)))); err != nil {
			return err
		}
	}
}

// sweepStep reads at most so many documents from where the sweep is on. The error is the
// context's only: the routing poll reports why a read failed.
func (w *Watcher) sweepStep(ctx context.Context, s *sweeper, documents int) error {
	if s.ns == "" {
		s.pass = time.Now()
	}
	for range sweepCommands {
		c := w.Table().following(s.ns, s.from.IsZero())
		if c == nil {
			*s = sweeper{pass: s.pass}
			return nil
		}
		if c.NS != s.ns || s.life != c.Incarnation || s.from.IsZero() {
			*s = sweeper{ns: c.NS, from: c.Key.Min(), life: c.Incarnation, begun: time.Now(), pass: s.pass}
		}
		n, last, gap := 0, s.from, false
		err := w.reread(ctx, c.Meta, func(ctx context.Context, each func(Chunk) error) error {
			return w.src.ChunksFrom(ctx, c.Meta, s.from, documents, func(row Chunk) error {
				gap = gap || row.Min.Compare(last) != 0
				n++
				last = row.Max
				return each(row)
			})
		})
		gap = gap || n < documents && last.Compare(c.Key.Max()) < 0
		if err == nil && gap && w.routing.enter(ctx) == nil {
			w.router.readAnew(c.NS) // chunks are missing, or overlap
			w.routing.leave()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case fault.Of(err) == fault.Unavailable:
			return nil // the next step tries the same again
		case err != nil:
			s.from = shardkey.Key{} // on to the next collection
		case n < documents || last.Compare(s.from) <= 0 || last.Compare(c.Key.Max()) >= 0:
			w.noteFlagsRead(c, s.begun)
			s.from = shardkey.Key{}
		default:
			s.from = last
		}
		if documents -= max(n, 1); documents <= 0 {
			return nil
		}
	}
	return nil
}

// following is the collection of this name while it is not done, else the next one; nil
// after the last.
func (t *Table) following(ns Namespace, done bool) *Collection {
	for _, c := range t.Collections {
		if c.NS > ns || c.NS == ns && !done {
			return c
		}
	}
	return nil
}

// noteFlagsRead notes that all flags of a collection were read since a time.
func (w *Watcher) noteFlagsRead(c *Collection, since time.Time) {
	w.publish(func(t *Table) bool {
		if now := t.Collection(c.NS); now != nil && now.Incarnation == c.Incarnation {
			t.setFlagsRead(map[Namespace]time.Time{c.NS: since})
		}
		return false
	})
}

// rereadFlagged reads chunks again that are flagged, in case a flag was cleared without a
// new version. With many of them it takes turns.
func (w *Watcher) rereadFlagged(ctx context.Context) error {
	left := flaggedPerStep
	for _, c := range w.Table().Collections {
		if c.Chunks.Jumbo() == 0 || left == 0 {
			continue
		}
		at := c.Chunks.someJumbo(w.flagged, left)
		left -= len(at)
		if err := w.rereadAt(ctx, c.Meta, at); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	w.flagged += flaggedPerStep
	return nil
}

// someJumbo is the lower bounds of at most n flagged chunks, beginning with the skip-th
// and again with the first after the last.
func (m *ChunkMap) someJumbo(skip, n int) (out []shardkey.Key) {
	n = min(n, m.jumbo)
	begin := skip % m.jumbo
	seen := 0
	for round := 0; round < 2 && len(out) < n; round++ {
		for _, b := range m.buckets {
			if b.jumbo == nil {
				continue
			}
			for i := 0; i < b.len() && len(out) < n; i++ {
				if b.isJumbo(i) {
					if seen++; seen > begin {
						out = append(out, b.min(i))
					}
				}
			}
		}
	}
	return out
}

// rereadAt reads the chunks with these lower bounds.
func (w *Watcher) rereadAt(ctx context.Context, m Meta, at []shardkey.Key) error {
	return w.reread(ctx, m, func(ctx context.Context, each func(Chunk) error) error {
		return w.src.ChunksAt(ctx, m, at, each)
	})
}

// reread reads chunks and takes their flags over where they are otherwise what the
// table has.
func (w *Watcher) reread(ctx context.Context, m Meta, read func(context.Context, func(Chunk) error) error) error {
	limited, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	var rows []Chunk
	err := read(limited, func(c Chunk) error {
		rows = append(rows, c)
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
		w.router.readAnew(m.NS)
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
