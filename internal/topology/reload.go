package topology

import (
	"bytes"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"shardboard/internal/fault"
)

// readAttempts bounds how often a collection that changes under the read is
// read again within one turn; the next turn begins anew. A full read of a collection
// that changes meanwhile takes two.
const readAttempts = 4

// readParallel is how many collections are read at the same time at most.
const readParallel = 4

// read reads the chunks of a turn's collections. A collection counts as read
// only when its identity after the chunks is the one from before: otherwise the
// rows may be of two incarnations. The error tells of collections that could
// not be read; the others are done all the same.
func (w *Watcher) read(ctx context.Context, t *turn) error {
	todo := t.loads
	for attempt := 0; attempt < readAttempts && len(todo) > 0; attempt++ {
		var g errgroup.Group
		g.SetLimit(readParallel)
		for _, l := range todo {
			g.Go(func() error {
				w.readOne(ctx, l)
				return nil
			})
		}
		_ = g.Wait() // never fails: each load has its own error
		again, err := w.verify(ctx, todo)
		if err != nil {
			for _, l := range todo {
				l.next = nil
			}
			return err
		}
		todo = again
	}
	for _, l := range todo {
		l.next = nil
	}
	for _, l := range t.loads {
		l.read = nil
		if l.next == nil && !l.gone && aboutTheCluster(l.err) {
			return l.err
		}
	}
	return nil
}

// aboutTheCluster reports whether an error of reading one collection says something about all: the cluster did not
// answer in time, or refuses to.
func aboutTheCluster(err error) bool {
	switch {
	case err == nil, errors.Is(err, ErrTorn):
		return false
	case errors.Is(err, context.Canceled):
		return true
	}
	kind := fault.Of(err)
	return kind == fault.Unavailable || kind == fault.UnknownOutcome || kind == fault.Forbidden
}

// verify reads the identity of collections again after their chunks and gives
// those that must be read again.
func (w *Watcher) verify(ctx context.Context, loads []*load) (again []*load, err error) {
	var names []Namespace
	for _, l := range loads {
		if l.next != nil || l.read != nil || errors.Is(l.err, ErrTorn) {
			names = append(names, l.head.NS)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	heads, err := w.src.Heads(ctx, Window{Only: names})
	if !usable(err) {
		return nil, err
	}
	now := make(map[Namespace]Head, len(heads))
	for _, h := range heads {
		now[h.NS] = h
	}
	for _, l := range loads {
		if l.next == nil && l.read == nil && !errors.Is(l.err, ErrTorn) {
			continue
		}
		h, exists := now[l.head.NS]
		switch {
		case !exists:
			l.gone, l.next, l.err = true, nil, nil
		case l.read != nil && sameLife(h.Meta, l.head.Meta):
			if h.Highest != l.head.Highest {
				again = append(again, l) // for what changed meanwhile
			} else if l.finish(nil); l.err != nil && l.provenTorn() {
				again = append(again, l)
			}
		case l.next != nil && sameLife(h.Meta, l.head.Meta):
			// Consistent. A version that came since is the next turn's.
		default:
			l.next, l.full, l.read = nil, true, nil
			l.head = h
			if l.err == nil {
				l.err = torn("%s changed while its chunks were read", h.NS)
			}
			again = append(again, l)
		}
	}
	return again, nil
}

// readOne reads the chunks of one collection, those that changed or all, and
// leaves the result in the load.
func (w *Watcher) readOne(ctx context.Context, l *load) {
	l.next, l.err, l.changes = nil, nil, nil
	if l.refused != nil && !l.begun {
		if l.err = w.roomAgain(ctx, l); l.err != nil {
			return
		}
	}
	l.begun = true
	if l.base != nil && !l.full && l.read == nil && sameLife(l.base.Meta, l.head.Meta) {
		rows, err := w.chunks(ctx, l.head.Meta, l.base.Highest)
		if err != nil && !errors.Is(err, ErrTorn) {
			l.err = err
			return
		}
		// No row at all means the chunks are of another life by now; a gap, that
		// something changed in the middle. Both are mended by reading all.
		if err == nil && len(rows) > 0 {
			m, changes, err := l.base.Chunks.Apply(rows)
			if err == nil {
				if l.err = w.growBy(m.Len() - l.base.Chunks.Len()); l.err == nil {
					l.take(m, changes)
				}
				return
			}
			w.o.Log.Debug("incremental read does not fit, reading all", "namespace", l.head.NS, "error", err)
		}
	}
	if l.read != nil {
		rows, err := w.chunks(ctx, l.head.Meta, l.head.Highest)
		if err != nil {
			l.read, l.err = nil, err
			return
		}
		l.finish(rows)
		return
	}
	l.allRead = time.Now()
	l.read, l.err = w.allChunks(ctx, l)
	if l.odd = nil; errors.As(l.err, &l.odd) {
		l.err = nil // the rest can be read; finish says that it is no routing table
	}
}

// provenTorn notes a read that found no routing table, although nothing changed meanwhile, and reports whether to read
// again. The second such read is proof enough.
func (l *load) provenTorn() (again bool) {
	l.tries++
	l.stable = l.tries > 1
	return !l.stable
}

// finish makes the collection of a full read and of what changed during it.
func (l *load) finish(changed []Chunk) {
	m, err := l.read.Finish(changed)
	l.torn, l.read = l.read, nil
	if err == nil && l.odd != nil {
		err = l.odd
	}
	if err != nil {
		l.err = err
		return
	}
	l.torn = nil
	kind := Created
	if l.base != nil {
		kind = Reloaded
	}
	l.take(m, []Change{{Kind: kind}})
}

// take makes the collection of a map.
func (l *load) take(m *ChunkMap, changes []Change) {
	if l.base != nil && l.base.Meta.Equal(l.head.Meta) && l.base.Chunks.Equal(m) {
		l.next = l.base
		return
	}
	for i := range changes {
		changes[i].NS = l.head.NS
	}
	l.next = &Collection{Meta: l.head.Meta, Highest: m.Highest(), Chunks: m}
	l.changes = changes
}

// allChunks reads all chunks of a collection. However long that takes, it is given up
// only when nothing comes for a while.
func (w *Watcher) allChunks(whole context.Context, l *load) (*ChunkBuilder, error) {
	h := l.head
	ctx, cancel := context.WithCancelCause(whole)
	defer cancel(nil)
	patience := time.AfterFunc(w.o.LoadTimeout, func() { cancel(context.DeadlineExceeded) })
	defer patience.Stop()
	r := NewChunkBuilder(h.Key)
	n := 0
	room := growth{ask: w.o.Grow}
	var backward OddChunksError
	err := w.src.AllChunks(ctx, h.Meta, func(row *ChunkRow) error {
		if bytes.Compare(row.Min.Encoded, row.Max.Encoded) >= 0 {
			lower, _ := h.Key.Document(row.Min.key())
			upper, _ := h.Key.Document(row.Max.key())
			backward.Add(OddChunk{lower, upper, row.Shard}, errors.New("a chunk ends before it begins"))
			return nil
		}
		if n++; n%growEvery == 1 {
			patience.Reset(w.o.LoadTimeout)
			each := r.bytesPerChunk()
			if err := room.by(growEvery*each, int64(n-1)*each); err != nil {
				return err
			}
		}
		return r.Add(row)
	})
	var odd *OddChunksError
	refused := noRoomOf(err)
	switch {
	case err == nil && backward.Count > 0:
		return r, &backward
	case err == nil:
		return r, nil
	case errors.As(err, &odd):
		return r, odd
	case refused != nil:
		w.noRoomFor(whole, l, refused, n-1)
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		err = fault.NoAnswer(err, "The cluster did not answer in time.")
	}
	return nil, fault.Wrap(fault.Of(err), err, "%s (chunks of %s)", fault.Text(err), h.NS)
}

func (w *Watcher) chunks(ctx context.Context, m Meta, since Version) ([]Chunk, error) {
	ctx, cancel := context.WithTimeout(ctx, w.o.LoadTimeout)
	defer cancel()
	var rows []Chunk
	room := growth{ask: w.o.Grow}
	err := w.src.Chunks(ctx, m, since, func(c Chunk) error {
		if rows = append(rows, c); len(rows)%growEvery == 0 {
			return room.by(ChunkBytes(growEvery), ChunkBytes(len(rows)))
		}
		return nil
	})
	if err != nil {
		return nil, fault.Wrap(fault.Of(err), err, "%s (chunks of %s)", fault.Text(err), m.NS)
	}
	return rows, nil
}
