package outcome

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// Outcome answers whether a run helped.
type Outcome struct {
	State       State
	Verdict     Verdict // only when Measured
	Basis       Basis
	PlusMinus   float64   // half of the 95 % interval of the difference of shares
	KnownAt     time.Time // end of the window after the run; zero while the run is open
	Reason      string    // only when Uncounted
	Credit      Credit    // only when the share fell
	Before      Side
	After       Side
	Shards      []ShardChange // hottest first
	Chunks      []ChunkChange
	More        int // number of chunks not listed
	Collections []CollectionChange
	OtherRuns   []string
	OtherMoves  int
	Begun       bool // Unclear because most of the writes began about when the run did
	Notes       []string
}

// Side is one window, all compared collections together.
type Side struct {
	Span
	Covered float64   // seconds counted, of the least counted collection
	Total   heat.Rate // rate of all compared collections
	Hottest string    // the hottest shard or, by chunks, the collection of the hottest chunk; "" without writes
	Share   float64   // share of the hottest in Total
}

// ShardChange is one shard before and after.
type ShardChange struct {
	Shard         string
	Before, After heat.Rate
}

// ChunkChange is one chunk that the run changed. A nil rate means that the chunk did not exist at
// that time.
type ChunkChange struct {
	NS            topology.Namespace
	Min, Max      bson.Raw
	From, To      string // shard before and after; "" if the chunk did not exist
	Before, After *heat.Rate
}

// CollectionChange is one collection of the run, compared or not.
type CollectionChange struct {
	NS                          topology.Namespace
	Method                      heat.Method
	Not                         string // why it is not compared; "": it is compared
	CoveredBefore, CoveredAfter float64
	Before, After               *heat.Rate // nil: not counted
}

// Off is the outcome while writes are not measured.
func Off(r engine.Run) Outcome {
	o := Compare(r, nil)
	if o.State == Uncounted {
		o.Reason = reasonOff
	}
	return o
}

// Compare makes the outcome of a run from its record, which is nil when nothing was recorded.
func Compare(r engine.Run, kept *Record) Outcome {
	s := scopeOf(r)
	o := Outcome{Basis: s.basis}
	before, after := windows(r.Started, r.Ended)
	if kept != nil {
		after = after.cut(kept.Until)
		if kept.Since.After(before.From) {
			before.From = kept.Since
		}
	}
	o.Before.Span, o.After.Span, o.KnownAt = before, after, after.To
	switch {
	case s.empty() && r.State.Open():
		o.State = Running
		return o
	case s.empty():
		o.State, o.KnownAt = Unchanged, time.Time{}
		return o
	case kept == nil && r.State.Open():
		o.State = Running
		return o
	case kept == nil:
		o.State, o.Reason, o.KnownAt = Uncounted, reasonNoRecord, time.Time{}
		return o
	}
	o.OtherRuns, o.OtherMoves = kept.OtherRuns, kept.OtherMoves
	ended := !r.State.Open()
	o.addCollections(kept, ended && kept.Closed)
	in := o.compared(kept)
	o.addShards(in)
	o.setState(r, kept, in)
	if r.IsBatch() {
		o.Chunks, o.More = nil, 0 // they are listed with the items
	}
	o.addNotes(r, s, in, kept.MovedAgain)
	return o
}
