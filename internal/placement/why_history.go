package placement

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// History is what the changelog that the table holds says of a place.
type History struct {
	State HistoryState
	Moved *Cause    // the last move that brought it here
	Cut   *Cause    // the last split or merge that gave the chunk its bounds
	Held  time.Time // time of the oldest entry held; zero when there is none
}

// HistoryState tells whether the changelog could answer.
type HistoryState string

// Whether the changelog could answer.
const (
	HistoryFound  HistoryState = "found"  // at least one of Moved and Cut
	HistoryBefore HistoryState = "before" // whatever it was, it was before the entries held
	HistoryUnread HistoryState = "unread" // the changelog may not be read, or was not yet
)

// Cause is one changelog entry.
type Cause struct {
	What string // moveChunk.commit, split, multi-split, merge, autoMerge, shardCollection.end, movePrimary.commit
	At   time.Time
	From string // shard, for moves
	To   string
}

func newHistory(t *topology.Table) History {
	h := History{State: HistoryBefore}
	if n := len(t.Events); n > 0 {
		h.Held = t.Events[n-1].Time
	} else if health := t.Health[topology.PartEvents]; health.At.IsZero() && len(t.Health) > 0 {
		h.State = HistoryUnread
	}
	return h
}

// chunkHistory finds the newest entries that a chunk can come from. Entries of
// an earlier life of the collection are of another chunk. The changelog is
// best effort: a move to another shard than the chunk is on does not count.
func chunkHistory(t *topology.Table, c *topology.Collection, ch topology.Chunk) History {
	h := newHistory(t)
	born := time.Unix(int64(c.Incarnation.Timestamp.T), 0)
	for _, e := range t.Events {
		if e.NS != string(c.NS) || c.Incarnation.Timestamp.T > 0 && e.Time.Before(born) {
			continue
		}
		x := Cause{What: e.What, At: e.Time}
		switch e.What {
		case "moveChunk.commit":
			if h.Moved != nil {
				continue
			}
			x.From, x.To = topology.TextField(e.Details, "from"), topology.TextField(e.Details, "to")
			lo, hi, ok := bounds(c.Key, e.Details)
			if ok && x.To == ch.Shard && meets(lo, hi, ch) {
				h.Moved = &x
			}
		case "split", "multi-split":
			before, _ := e.Details.Lookup("before").DocumentOK()
			if lo, hi, ok := bounds(c.Key, before); ok && h.Cut == nil && meets(lo, hi, ch) {
				h.Cut = &x
			}
		case "merge", "autoMerge":
			if lo, hi, ok := merged(c.Key, e.Details); ok && h.Cut == nil && meets(lo, hi, ch) {
				h.Cut = &x
			}
		case "shardCollection.end":
			if h.Cut == nil {
				h.Cut = &x
			}
		}
		if h.Moved != nil && h.Cut != nil {
			break
		}
	}
	if h.Moved != nil || h.Cut != nil {
		h.State = HistoryFound
	}
	return h
}

// primaryHistory finds the movePrimary that brought a database to its shard.
func primaryHistory(t *topology.Table, db, primary string) History {
	h := newHistory(t)
	for _, e := range t.Events {
		if e.What == "movePrimary.commit" && e.NS == db {
			from, to := topology.TextField(e.Details, "from"), topology.TextField(e.Details, "to")
			if x := (Cause{What: e.What, At: e.Time, From: from, To: to}); x.To == primary {
				h.Moved, h.State = &x, HistoryFound
			}
			break
		}
	}
	return h
}

// meets tells whether a range can be what a chunk was made of: they have keys
// in common.
func meets(lo, hi shardkey.Key, ch topology.Chunk) bool {
	return lo.Compare(ch.Max) < 0 && ch.Min.Compare(hi) < 0
}

// bounds reads min and max; not ok when they are not of the present shard key.
func bounds(p shardkey.Pattern, d bson.Raw) (lo, hi shardkey.Key, ok bool) {
	from, okFrom := d.Lookup("min").DocumentOK()
	to, okTo := d.Lookup("max").DocumentOK()
	if !okFrom || !okTo {
		return lo, hi, false
	}
	lo, errLo := p.Bound(from)
	hi, errHi := p.Bound(to)
	return lo, hi, errLo == nil && errHi == nil
}

// merged reads the range of a merge: min and max, or up to 5.0 the list of
// what was merged.
func merged(p shardkey.Pattern, d bson.Raw) (lo, hi shardkey.Key, ok bool) {
	if lo, hi, ok = bounds(p, d); ok {
		return lo, hi, true
	}
	list, isList := d.Lookup("merged").ArrayOK()
	if !isList {
		return lo, hi, false
	}
	parts, err := list.Values()
	if err != nil {
		return lo, hi, false
	}
	for i, part := range parts {
		doc, isDoc := part.DocumentOK()
		from, to, good := bounds(p, doc)
		if !isDoc || !good {
			return lo, hi, false
		}
		if i == 0 {
			lo = from
		}
		hi = to
	}
	return lo, hi, len(parts) > 0
}
