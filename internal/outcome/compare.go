package outcome

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// State is how far a comparison has got.
type State string

// The states.
const (
	Running   State = "running"   // the run has not ended
	TooEarly  State = "tooEarly"  // the window after the run has not ended: see KnownAt
	Measured  State = "measured"  // there is a verdict
	Shared    State = "shared"    // other runs changed the same collections at the time: figures without a verdict
	Few       State = "few"       // too few rows for a verdict
	Idle      State = "idle"      // nothing was written in either window
	Uncounted State = "uncounted" // see Reason
	Unchanged State = "unchanged" // the run neither moved nor split a chunk
)

// Reasons for not comparing, besides the codes of heat.Uncounted.
const (
	reasonOff      = "off"      // writes are not counted here
	reasonNoRecord = "noRecord" // nothing was counted around this run
	reasonGap      = "gap"      // less than leastCovered of a window was counted
	reasonChanged  = "changed"  // changed rows, beside new rows: listed but not compared
	reasonGone     = "gone"     // the collection no longer exists
)

// Notes of an outcome, catalogue codes.
const (
	NoteGathers    = "gathers"    // the purpose of the run was to gather writes on one shard
	NoteZones      = "zones"      // the balancer moves chunks, after the run
	NotePartial    = "partial"    // the windows were not counted completely
	NoteHottest    = "hottest"    // changed rows of the hottest projects only
	NoteAtLeast    = "atLeast"    // some writes could not be counted
	NoteAstray     = "astray"     // the chunk of some writes is unknown
	NoteMigrations = "migrations" // others moved chunks of the same collections
	NoteAgain      = "again"      // others moved the run's chunks again
	NoteUndone     = "undone"     // the run was undone
	NoteUnreadable = "unreadable" // its stored measurements cannot be decoded
)

// Record is what is stored about one run. Stored as JSON; do not rename its fields.
type Record struct {
	Run            string
	Started, Ended time.Time // zero while open
	Collections    []CollectionRecord
	OtherRuns      []string // ids of runs that changed the same collections in the windows or between them
	OtherMoves     int      // other migrations of these collections in that time
	MovedAgain     bool     // one of them moved the run's chunks after the run
	Closed         bool     // the measurement has ended
}

// CollectionRecord is one collection of a Record.
type CollectionRecord struct {
	NS            topology.Namespace
	Not           string // why it is not counted; "": it is counted
	Before, After *Counts
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

// Outcome answers whether a run helped.
type Outcome struct {
	State       State
	Verdict     Verdict // only when Measured
	Basis       Basis
	PlusMinus   float64   // half of the 95 % interval of the difference of shares
	KnownAt     time.Time // end of the window after the run; zero while the run is open
	Reason      string    // only when Uncounted
	Before      Side
	After       Side
	Shards      []ShardChange // hottest first
	Chunks      []ChunkChange
	More        int // number of chunks not listed
	Collections []CollectionChange
	OtherRuns   []string
	OtherMoves  int
	Notes       []string
}

// Off is the outcome while writes are not measured.
func Off(r engine.Run) Outcome {
	o := Compare(r, nil)
	if o.State == Uncounted {
		o.Reason = reasonOff
	}
	return o
}

// Compare makes the outcome of a run from its record; nil: no record.
func Compare(r engine.Run, kept *Record) Outcome {
	s := scopeOf(r)
	o := Outcome{Basis: s.basis}
	before, after := windows(r.Started, r.Ended)
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
	o.collections(kept, ended && kept.Closed)
	in := o.compared(kept)
	o.sum(in)
	o.conclude(r, kept, len(in) > 0)
	o.notes(r, s, in, kept.MovedAgain)
	return o
}

// collections lists the run's collections with their counts, and why one is not compared.
func (o *Outcome) collections(kept *Record, over bool) {
	appended := slices.ContainsFunc(kept.Collections, func(c CollectionRecord) bool {
		return c.Not == "" && c.Before != nil && c.Before.Method == heat.NewRows
	})
	for _, c := range kept.Collections {
		x := CollectionChange{NS: c.NS, Not: c.Not}
		for _, side := range []struct {
			counts  *Counts
			covered *float64
			rate    **heat.Rate
		}{{c.Before, &x.CoveredBefore, &x.Before}, {c.After, &x.CoveredAfter, &x.After}} {
			if side.counts != nil {
				r := side.counts.rate(side.counts.Total)
				*side.covered, *side.rate, x.Method = side.counts.Seconds, &r, side.counts.Method
			}
		}
		least := leastCovered.Seconds()
		switch {
		case x.Not != "":
		case over && (x.CoveredBefore < least || x.CoveredAfter < least):
			x.Not = reasonGap
		case x.Method == heat.ChangedRows && appended:
			x.Not = reasonChanged
		}
		o.Collections = append(o.Collections, x)
	}
}

// compared returns the collections that are compared.
func (o *Outcome) compared(kept *Record) (in []CollectionRecord) {
	for i, c := range kept.Collections {
		if o.Collections[i].Not == "" {
			in = append(in, c)
		}
	}
	return in
}

// sum adds up the collections by shard and lists the chunks.
func (o *Outcome) sum(in []CollectionRecord) {
	shards := map[string]*ShardChange{}
	for _, c := range in {
		for _, side := range []struct {
			counts *Counts
			rate   func(*ShardChange) *heat.Rate
			side   *Side
		}{
			{c.Before, func(x *ShardChange) *heat.Rate { return &x.Before }, &o.Before},
			{c.After, func(x *ShardChange) *heat.Rate { return &x.After }, &o.After},
		} {
			if side.counts == nil {
				continue
			}
			placed := Tally{}
			for shard, t := range side.counts.Shards {
				if shards[shard] == nil {
					shards[shard] = &ShardChange{Shard: shard, Before: heat.Rate{Exact: true}, After: heat.Rate{Exact: true}}
				}
				placed = placed.plus(t)
				r := side.rate(shards[shard])
				*r = plus(*r, side.counts.rate(t))
			}
			if side.side.Covered == 0 {
				side.side.Covered, side.side.Total = side.counts.Seconds, heat.Rate{Exact: true}
			}
			side.side.Covered = min(side.side.Covered, side.counts.Seconds)
			side.side.Total = plus(side.side.Total, side.counts.rate(placed))
		}
		o.chunks(c)
	}
	for _, s := range shards {
		o.Shards = append(o.Shards, *s)
	}
	for i := range o.Shards {
		x := &o.Shards[i]
		x.Before.Share, x.After.Share = shareOf(x.Before, o.Before.Total), shareOf(x.After, o.After.Total)
		if o.Basis == ByShards {
			o.Before.hottest(x.Shard, x.Before.Share)
			o.After.hottest(x.Shard, x.After.Share)
		}
	}
	slices.SortFunc(o.Shards, func(a, b ShardChange) int {
		return cmp.Or(cmp.Compare(max(b.Before.Share, b.After.Share), max(a.Before.Share, a.After.Share)), strings.Compare(a.Shard, b.Shard))
	})
	for i := range o.Chunks {
		x := &o.Chunks[i]
		for _, side := range []struct {
			rate *heat.Rate
			side *Side
		}{{x.Before, &o.Before}, {x.After, &o.After}} {
			if side.rate == nil {
				continue
			}
			side.rate.Share = shareOf(*side.rate, side.side.Total)
			if o.Basis == ByChunks {
				side.side.hottest(string(x.NS), side.rate.Share)
			}
		}
	}
	slices.SortStableFunc(o.Chunks, func(a, b ChunkChange) int { return cmp.Compare(b.hottest(), a.hottest()) })
}

func (s *Side) hottest(name string, share float64) {
	if share > s.Share || share == s.Share && share > 0 && name < s.Hottest {
		s.Hottest, s.Share = name, share
	}
}

func (c ChunkChange) hottest() (most float64) {
	for _, r := range []*heat.Rate{c.Before, c.After} {
		if r != nil {
			most = max(most, r.Share)
		}
	}
	return most
}

func shareOf(r, of heat.Rate) float64 {
	if of.PerSecond <= 0 {
		return 0
	}
	return min(1, r.PerSecond/of.PerSecond)
}

// plus adds the rates of two things that were counted independently.
func plus(a, b heat.Rate) heat.Rate {
	return heat.Rate{PerSecond: a.PerSecond + b.PerSecond, PlusMinus: math.Hypot(a.PlusMinus, b.PlusMinus),
		Exact: a.Exact && b.Exact, AtLeast: a.AtLeast || b.AtLeast, Rows: a.Rows + b.Rows}
}

// chunks matches a collection's chunks before and after by their bounds.
func (o *Outcome) chunks(c CollectionRecord) {
	at := map[string]int{}
	of := func(x ChunkTally) *ChunkChange {
		k := string(x.Min) + string(x.Max)
		i, ok := at[k]
		if !ok {
			i = len(o.Chunks)
			at[k] = i
			o.Chunks = append(o.Chunks, ChunkChange{NS: c.NS, Min: x.Min, Max: x.Max})
		}
		return &o.Chunks[i]
	}
	more := 0
	if c.Before != nil {
		more = c.Before.More
		for _, x := range c.Before.Chunks {
			r := c.Before.rate(x.Tally)
			ch := of(x)
			ch.From, ch.Before = x.Shard, &r
		}
	}
	if c.After != nil {
		more = max(more, c.After.More)
		for _, x := range c.After.Chunks {
			r := c.After.rate(x.Tally)
			ch := of(x)
			ch.To, ch.After = x.Shard, &r
		}
	}
	o.More += more
}

// conclude sets state and verdict.
func (o *Outcome) conclude(r engine.Run, kept *Record, some bool) {
	switch {
	case r.State.Open():
		o.State = Running
		return
	case !kept.Closed && some:
		o.State = TooEarly
		return
	case !some:
		o.State, o.Reason = Uncounted, o.whyNone()
		return
	}
	n, m := o.Before.Total.Rows, o.After.Total.Rows
	v, plusMinus := judge(o.Before.Share, n, o.After.Share, m)
	switch {
	case n == 0 && m == 0:
		o.State = Idle
	case v == "":
		o.State = Few
	case len(o.OtherRuns) > 0:
		o.State, o.PlusMinus = Shared, plusMinus
	default:
		o.State, o.Verdict, o.PlusMinus = Measured, v, plusMinus
	}
}

// whyNone is why no collection was compared: a temporary gap before permanent reasons.
func (o *Outcome) whyNone() string {
	reason := ""
	for _, c := range o.Collections {
		if c.Not == reasonGap {
			return reasonGap
		}
		reason = cmp.Or(reason, c.Not)
	}
	return cmp.Or(reason, reasonNoRecord)
}

func (o *Outcome) notes(r engine.Run, s scope, in []CollectionRecord, again bool) {
	note := func(code string, is bool) {
		if is {
			o.Notes = append(o.Notes, code)
		}
	}
	over := o.State != Running && o.State != TooEarly && o.State != Uncounted
	gathers := r.Kind.Describe().Gathers
	note(NoteGathers, over && gathers && r.UndoOf == "")
	note(NoteZones, s.zonesOnly)
	note(NotePartial, over && (o.Before.Covered < o.Before.Seconds() || o.After.Covered < o.After.Seconds()))
	var hottest, capped bool
	var astray, all float64
	for _, c := range in {
		for _, x := range []*Counts{c.Before, c.After} {
			if x != nil {
				hottest = hottest || x.Method == heat.ChangedRows
				capped = capped || x.Capped && x.Method == heat.NewRows
				astray, all = astray+x.Astray.Estimate, all+x.Total.Estimate
			}
		}
	}
	note(NoteHottest, hottest)
	note(NoteAtLeast, capped)
	note(NoteAstray, astray > 0.01*all)
	note(NoteMigrations, o.OtherMoves > 0)
	note(NoteAgain, again)
	note(NoteUndone, r.State == engine.Undone)
}
