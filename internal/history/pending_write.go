package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// pendingWrite is what one table adds to the history, before it is stored.
type pendingWrite struct {
	at      time.Time
	entries []store.HistoryEntry
	events  []store.HistoryEvent
	frame   []byte
	chunks  map[string]*recordedChunks
	sizes   map[topology.Namespace]time.Time
}

func (d *pendingWrite) add(stream string, whole bool, body []byte) {
	d.addPacked(stream, whole, pack(body))
}

func (d *pendingWrite) addPacked(stream string, whole bool, body []byte) {
	d.entries = append(d.entries, store.HistoryEntry{At: d.at, Stream: stream, Whole: whole, Body: body})
}

// sameFrame reports whether two tables share every part of a frame. Parts are replaced and never
// modified, so the same memory means the same content.
func sameFrame(a, b *topology.Table) bool {
	return same(a.Shards, b.Shards) && same(a.Databases, b.Databases) && same(a.Unsharded, b.Unsharded) && same(a.Zones, b.Zones) &&
		slices.EqualFunc(a.Collections, b.Collections, func(a, b *topology.Collection) bool { return a == b || a.Meta.Equal(b.Meta) }) &&
		settings(a.Balancer).Equal(settings(b.Balancer)) && a.ServerInfo == b.ServerInfo
}

func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// settings is the balancer without its counters.
func settings(b topology.Balancer) topology.Balancer {
	b.InRound, b.Rounds = false, 0
	return b
}

// addChunks adds what changed in a collection, or its full state when it is new or has many
// changes.
func (r *Recorder) addChunks(c *topology.Collection, d *pendingWrite) {
	if c.Chunks.Len() == 0 {
		return
	}
	stream := chunksStream(c.Meta)
	known := r.chunks[stream]
	if known == nil {
		d.whole(stream, c.Chunks)
		return
	}
	rows := c.Chunks.Delta(known.chunks)
	switch {
	case len(rows) == 0:
		return
	case known.rows+len(rows) > max(wholeAfter, c.Chunks.Len()/wholePart):
		d.whole(stream, c.Chunks)
	default:
		d.add(stream, false, encodeChunks(rows))
		d.chunks[stream] = &recordedChunks{chunks: c.Chunks, rows: known.rows + len(rows)}
	}
}

func (d *pendingWrite) whole(stream string, m *topology.ChunkMap) {
	d.addPacked(stream, true, packChunks(m))
	d.chunks[stream] = &recordedChunks{chunks: m}
}

// addSizes adds the sizes that are due.
func (r *Recorder) addSizes(t *topology.Table, d *pendingWrite) error {
	for ns, s := range t.Sizes {
		if s.At.IsZero() || s.At.Sub(r.sizes[ns]) < sizesEvery {
			continue
		}
		b, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encode sizes of %s: %w", ns, err)
		}
		d.add(sizesStream(ns), true, b)
		d.sizes[ns] = s.At
	}
	return nil
}

// addEvents adds the changelog entries that the last table did not have.
func (r *Recorder) addEvents(t *topology.Table, d *pendingWrite) {
	known := map[string]bool{}
	if r.last != nil {
		if same(r.last.Events, t.Events) {
			return
		}
		for _, e := range r.last.Events {
			known[e.ID] = true
		}
	}
	for _, e := range t.Events {
		if !known[e.ID] {
			d.events = append(
				d.events,
				store.HistoryEvent{ID: e.ID, At: e.Time, What: e.What, NS: e.NS, Shard: e.Shard, Failed: failed(e), Details: e.Details,
					CountedAs: countedAs(e)},
			)
		}
	}
}

// FurtherSplit is counted instead of the entries of a split into several chunks but the first:
// the server logs one for each of them.
const FurtherSplit = "multi-split.further"

func countedAs(e topology.Event) string {
	if n, _ := e.Details.Lookup("number").AsInt64OK(); e.What == "multi-split" && n > 1 {
		return FurtherSplit
	}
	return e.What
}

// failed reports whether an entry records a failure: the server writes moveChunk.error, and notes
// "aborted" or "failed" in failed moves. It also notes "aborted" when a chunk was asked to move to
// the shard it is on, which is not a failure.
func failed(e topology.Event) bool {
	if strings.HasSuffix(e.What, ".error") || strings.HasSuffix(e.What, ".failed") || strings.HasSuffix(e.What, ".abort") {
		return true
	}
	if e.MoveToSelf() {
		return false
	}
	note, ok := e.Details.Lookup("note").StringValueOK()
	return ok && (note == "aborted" || strings.HasPrefix(note, "fail"))
}
