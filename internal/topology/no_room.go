package topology

import (
	"context"
	"errors"
	"math"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// A chunk takes chunkBytes or more, keys and the read included; growEvery is for how many of a read room is asked at
// once, so that all reads together pass a limit by readParallel of these at most.
const (
	chunkBytes = 64
	growEvery  = 4096
)

// What was refused is asked for again after roomEvery, without a command while its estimate does not fit. A read that
// began because the estimate fitted, and was refused all the same, waits twice as long, up to roomEveryMost. The chunks
// of a collection that has changed are counted again after recountAfter.
const (
	roomEvery     = 30 * time.Second
	roomEveryMost = 30 * time.Minute
	recountAfter  = 10 * time.Minute
)

// NoRoom says that a routing table was not read, or not as it is now, because memory is short. Its figures are
// estimates.
type NoRoom struct {
	Chunks int   // that are missing in the table; 0: not known
	Bytes  int64 // what they take; where Chunks is not known, more than this
	Left   int64 // by how much routing tables could grow before the read
	Kept   bool  // the table has the collection as it was before

	counted time.Time
	wait    time.Duration // before it is tried again
}

// noRoomError is the cause of reads that Options.Grow refused.
type noRoomError struct{ NoRoom }

func (e *noRoomError) Error() string { return "no room in memory" }

// ChunkBytes is about what so many chunks take.
func ChunkBytes(chunks int) int64 { return int64(chunks) * chunkBytes }

// Message says what is missing of a collection and when it comes.
func (n *NoRoom) Message(ns Namespace) message.Message {
	what, need := "{ns} is not loaded: ", "its chunks need more than {needs} of memory"
	switch {
	case n.Kept && n.Chunks > 0:
		what, need = "{ns} is shown as it was before: ", message.Plural(n.Chunks, "a new chunk needs", "{chunks} new chunks need")+
			" about {needs} of memory"
	case n.Kept:
		what, need = "{ns} is shown as it was before: ", "what has changed needs more than {needs} of memory"
	case n.Chunks > 0:
		need = message.Plural(n.Chunks, "its chunk needs", "its {chunks} chunks need") + " about {needs} of memory"
	}
	return message.New("noRoom", what+need+", and about {left} is left. It is loaded as soon as there is room.", message.Namespace("ns", ns),
		message.Count("chunks", n.Chunks), message.Bytes("needs", n.Bytes), message.Bytes("left", n.Left))
}

// growth is the room that one read asks for, part by part.
type growth struct {
	ask    func(bytes int64) (left int64, ok bool) // Options.Grow
	before *int64                                  // how much was left when it began, because what it takes is given back; nil: not asked yet
}

// by asks for bytes more than what was taken already.
func (g *growth) by(bytes, taken int64) error {
	left, ok := g.ask(bytes)
	if g.before == nil {
		g.before = &left
	}
	if ok {
		return nil
	}
	return fault.Wrap(fault.Conflict, &noRoomError{NoRoom{Bytes: taken + bytes, Left: *g.before, wait: roomEvery}}, "Memory is short.")
}

// growBy asks for room for chunks that a collection has got; a move or merge needs none.
func (w *Watcher) growBy(chunks int) error {
	if chunks <= 0 {
		return nil
	}
	err := (&growth{ask: w.o.Grow}).by(ChunkBytes(chunks), 0)
	if n := noRoomOf(err); n != nil {
		n.Chunks = chunks
	}
	return err
}

// roomAgain asks for the room that was refused before, without a command. While there is none the figures stay, so that
// nothing is published, unless they have become wrong.
func (w *Watcher) roomAgain(ctx context.Context, l *load) error {
	n := l.refused.NoRoom
	left, ok := w.o.Grow(n.Bytes)
	if ok {
		return nil
	}
	is := *n
	if d := left - n.Left; max(d, -d) > n.Left/10 {
		is.Left = left
	}
	if l.full && l.refused.highest != l.head.Highest && time.Since(n.counted) >= recountAfter {
		w.countChunks(ctx, l.head.Meta, &is)
	}
	return fault.Wrap(fault.Conflict, &noRoomError{is}, "Memory is short.")
}

// noRoomFor completes what is known of a full read that was refused after so many chunks.
func (w *Watcher) noRoomFor(ctx context.Context, l *load, n *NoRoom, read int) {
	if was := l.refused; was != nil {
		n.wait = min(2*was.NoRoom.wait, roomEveryMost)
	}
	n.Chunks = read + growEvery // of which Bytes is
	if !w.countChunks(ctx, l.head.Meta, n) {
		n.Chunks = 0
	}
}

// countChunks estimates what a collection needs by the number of its chunks now. What a chunk takes stays as it was.
func (w *Watcher) countChunks(ctx context.Context, m Meta, n *NoRoom) (ok bool) {
	ctx, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	n.counted = time.Now()
	count, err := w.src.CountChunks(ctx, m)
	if err != nil || count == 0 {
		w.o.Log.Debug("the chunks of a collection that found no room were not counted", "namespace", m.NS, "error", err)
		return false
	}
	each := float64(chunkBytes)
	if n.Chunks > 0 {
		each = max(each, float64(n.Bytes)/float64(n.Chunks))
	}
	n.Chunks, n.Bytes = int(count), int64(math.Ceil(each*float64(count)))
	return true
}

// noRoomOf is the refusal that ended a read; nil for another end.
func noRoomOf(err error) *NoRoom {
	var e *noRoomError
	if !errors.As(err, &e) {
		return nil
	}
	return &e.NoRoom
}
