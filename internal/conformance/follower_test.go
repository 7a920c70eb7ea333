package conformance_test

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// follower maintains the chunks of one collection with incremental reads only.
type follower struct {
	*world
	meta    topology.Meta
	highest topology.Version
	chunks  []topology.Chunk // in key order
}

// head returns the collection's row of the routing poll.
func (w *world) head(ns topology.Namespace) topology.Head {
	w.Helper()
	heads, err := w.source.Heads(w.Context(), topology.Window{Only: []topology.Namespace{ns}})
	must.Do(w, err)
	must.That(w, len(heads) == 1 && heads[0].NS == ns, "heads of %s: %v", ns, heads)
	return heads[0]
}

// readChunksSince returns the chunks with a version from since on, in the received order.
func (w *world) readChunksSince(m topology.Meta, since topology.Version) (out []topology.Chunk) {
	w.Helper()
	must.Do(w, w.source.Chunks(w.Context(), m, since, func(c topology.Chunk) error {
		out = append(out, c)
		return nil
	}))
	return out
}

func compareMin(a, b topology.Chunk) int { return a.Min.Compare(b.Min) }

func (w *world) follow(ns topology.Namespace) *follower {
	w.Helper()
	h := w.head(ns)
	f := &follower{world: w, meta: h.Meta, highest: h.Highest, chunks: w.readChunksSince(h.Meta, topology.Version{})}
	slices.SortFunc(f.chunks, compareMin)
	f.checkCoverage()
	return f
}

// readChanges reads the chunks that an action changed and compares the result with a full
// read: equal, without gaps, and newer than before.
func (f *follower) readChanges(what string) {
	f.Helper()
	h := f.head(f.meta.NS)
	must.That(f, h.Incarnation == f.meta.Incarnation, "%s made another collection of it", what)
	must.That(f, f.highest.Less(h.Highest), "%s: highest version %s, was %s", what, h.Highest, f.highest)
	last := f.highest
	for _, c := range f.readChunksSince(h.Meta, f.highest) {
		expect.That(f, !c.Version.Less(last), "%s: version %s came after %s", what, c.Version, last)
		last = c.Version
		f.apply(c)
	}
	expect.That(f, last == h.Highest, "%s: the incremental read ends at %s, the head at %s", what, last, h.Highest)
	f.highest, f.meta = h.Highest, h.Meta
	f.checkCoverage()
	whole := f.readChunksSince(f.meta, topology.Version{})
	slices.SortFunc(whole, compareMin)
	must.That(f, slices.Equal(whole, f.chunks), "%s: incremental reads give\n%v\na whole one\n%v", what, f.chunks, whole)
}

// apply replaces all overlapping chunks by a chunk.
func (f *follower) apply(c topology.Chunk) {
	own := shardkey.Range{Min: c.Min, Max: c.Max}
	f.chunks = slices.DeleteFunc(f.chunks, func(o topology.Chunk) bool {
		return own.Overlaps(shardkey.Range{Min: o.Min, Max: o.Max})
	})
	at, _ := slices.BinarySearchFunc(f.chunks, c, compareMin)
	f.chunks = slices.Insert(f.chunks, at, c)
}

// checkCoverage verifies that the chunks cover the key space.
func (f *follower) checkCoverage() {
	f.Helper()
	at := f.meta.Key.Min()
	for _, c := range f.chunks {
		must.That(f, c.Min.Compare(at) == 0, "a gap before %v", c)
		at = c.Max
	}
	must.That(f, at.Compare(f.meta.Key.Max()) == 0, "chunks end before the key space does")
}

// keyDoc returns a key in the form that commands take.
func (f *follower) keyDoc(k shardkey.Key) bson.Raw {
	f.Helper()
	d, err := f.meta.Key.Document(k)
	must.Do(f, err)
	return d
}

func (f *follower) boundDocuments(c topology.Chunk) (lower, upper bson.Raw) {
	f.Helper()
	return f.keyDoc(c.Min), f.keyDoc(c.Max)
}

// chunkOf returns the chunk that contains a key.
func (f *follower) chunkOf(k shardkey.Key) topology.Chunk {
	f.Helper()
	for _, c := range f.chunks {
		if (shardkey.Range{Min: c.Min, Max: c.Max}).Contains(k) {
			return c
		}
	}
	f.Fatal("no chunk has the key")
	panic("unreachable")
}

// otherShard returns another shard than this one.
func (w *world) otherShard(shard string) string {
	w.Helper()
	for _, s := range w.shards {
		if s != shard {
			return s
		}
	}
	w.Fatal("there is one shard only")
	panic("unreachable")
}

// marshal returns a document as bytes.
func marshal(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}
