package outcome

import (
	"cmp"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// sample is a slot of heat with the collection's chunks at that time.
type sample struct {
	slot       heat.Slot
	taken      time.Time // when it was counted, a few seconds after its end
	collection *topology.Collection
	keys       heat.Keys
}

// Span is a time [From, To).
type Span struct{ From, To time.Time }

// Seconds is its length.
func (s Span) Seconds() float64 { return s.To.Sub(s.From).Seconds() }

// cut ends a span earlier; at the zero time it stays as it is.
func (s Span) cut(at time.Time) Span {
	if !at.IsZero() && at.Before(s.To) {
		s.To = at
	}
	return s
}

func (s Span) contains(x heat.Slot) bool { return !x.From.Before(s.From) && !x.To.After(s.To) }

// windows returns the whole minutes before a run began and after it ended. The second window of an
// open run is zero.
func windows(started, ended time.Time) (before, after Span) {
	to := started.Truncate(windowAlignment).UTC()
	before = Span{to.Add(-Window), to}
	if ended.IsZero() {
		return before, Span{}
	}
	from := ended.Truncate(windowAlignment).UTC()
	if from.Before(ended) {
		from = from.Add(windowAlignment)
	}
	return before, Span{from, from.Add(Window)}
}

// Tally is a sum of rows that may be sampled.
type Tally struct {
	Rows     int64   // counted
	Estimate float64 // extrapolated where one part in n was counted
	Variance float64 // variance of Estimate's error
}

// add adds rows like heat does: where one part in n is counted, n·rows has the variance
// n·(n−1)·rows.
func (t *Tally) add(rows, every int64) {
	t.Rows += rows
	t.Estimate += float64(rows * every)
	t.Variance += float64(every*(every-1)) * float64(rows)
}

func (t Tally) plus(o Tally) Tally {
	return Tally{t.Rows + o.Rows, t.Estimate + o.Estimate, t.Variance + o.Variance}
}

// ChunkTally is the writes of one chunk. The bounds are those at the window's end.
type ChunkTally struct {
	Min, Max bson.Raw
	Shard    string
	Tally
}

// Counts is what was counted of one collection in one window. Stored as JSON.
type Counts struct {
	Method  heat.Method
	Seconds float64 // seconds counted
	Sampled bool    // partly sampled, one second in ten
	Capped  bool    // some rows could not be counted
	Total   Tally
	Shards  map[string]Tally // all shards with chunks
	Chunks  []ChunkTally     // the run's chunks, hottest first
	More    int              // number of the run's chunks that are not listed
	// Others are the hottest of the other chunks, to know what others moved; nil in records of before they were kept.
	Others []ChunkTally `json:",omitempty"`
	Astray Tally        // rows whose chunk is unknown
	Until  time.Time    // end of the newest counted part
}

// count adds up the samples of a collection that lie in a window. Chunks are those of the newest
// sample taken by asOf (zero: of the newest sample), because a run may change them before the last
// part of the first window is counted.
func countWindow(samples []sample, w Span, spans []keySpan, asOf time.Time) *Counts {
	var in []sample
	var last *topology.Collection // the collection whose chunks are listed
	for _, s := range samples {
		if !w.contains(s.slot) {
			continue
		}
		in = append(in, s)
		if last == nil || asOf.IsZero() || !s.taken.After(asOf) {
			last = s.collection
		}
	}
	if len(in) == 0 {
		return nil
	}
	out := &Counts{Shards: map[string]Tally{}}
	for shard := range last.Chunks.CountByShard() {
		out.Shards[shard] = Tally{}
	}
	chunks := map[int]Tally{}
	for _, s := range in {
		out.Method, out.Until = s.slot.Method, s.slot.To
		out.Seconds += s.slot.Seconds()
		out.Sampled, out.Capped = out.Sampled || s.slot.Every > 1, out.Capped || s.slot.Capped
		out.Total.add(s.slot.Rows(), s.slot.Every)
		at := s.collection
		if !asOf.IsZero() && s.taken.After(asOf) {
			at = last
		}
		if s.slot.Life != at.Incarnation || s.slot.Life != last.Incarnation {
			out.Astray.add(s.slot.Rows(), s.slot.Every)
			continue
		}
		out.Astray.add(s.slot.Astray, s.slot.Every)
		for _, p := range s.slot.Pieces {
			i, _ := at.Chunks.Find(p.In.Value().Min)
			t := out.Shards[at.Chunks.Owner(i)]
			t.add(p.Rows, s.slot.Every)
			out.Shards[at.Chunks.Owner(i)] = t
		}
		for _, p := range s.keys.Divide(s.slot, last) { // chunks that were split within the window
			i, _ := last.Chunks.Find(p.In.Value().Min)
			t := chunks[i]
			t.add(p.Rows, s.slot.Every)
			chunks[i] = t
		}
	}
	out.listChunks(last, chunks, spans)
	return out
}

// list keeps the chunks that overlap the spans, hottest first: all while they are few, else the
// hottest with rows.
func (c *Counts) listChunks(of *topology.Collection, tallies map[int]Tally, spans []keySpan) {
	listed, met := map[int]bool{}, 0
	ranges := mergedRanges(of, spans)
	if spans == nil { // of a batch, whose items may change any of them
		ranges = []shardkey.Range{{Min: of.Key.Min(), Max: of.Key.Max()}}
	}
	for _, r := range ranges {
		from, to := of.Chunks.Overlap(r)
		met += to - from
		for i := range tallies {
			if i >= from && i < to {
				listed[i] = true
			}
		}
		if to-from <= chunksListed {
			for i := from; i < to; i++ {
				listed[i] = true
			}
		}
	}
	c.Others = []ChunkTally{}
	for i := range tallies {
		if !listed[i] {
			c.Others = addTally(c.Others, of, i, tallies[i])
		}
	}
	for i := range listed {
		c.Chunks = addTally(c.Chunks, of, i, tallies[i])
	}
	c.Chunks, c.Others = hottestOf(c.Chunks), hottestOf(c.Others)
	c.More = met - len(c.Chunks)
}

// addTally adds the writes of a chunk; one whose bound cannot be written as a document is left out.
func addTally(list []ChunkTally, of *topology.Collection, i int, t Tally) []ChunkTally {
	ch := of.Chunks.At(i)
	lo, errLo := of.Key.Document(ch.Min)
	hi, errHi := of.Key.Document(ch.Max)
	if errLo != nil || errHi != nil {
		return list
	}
	return append(list, ChunkTally{lo, hi, ch.Shard, t})
}

func hottestOf(list []ChunkTally) []ChunkTally {
	slices.SortFunc(list, compareHotness)
	return list[:min(len(list), chunksListed)]
}

func compareHotness(a, b ChunkTally) int {
	return cmp.Or(cmp.Compare(b.Estimate, a.Estimate), slices.Compare(a.Min, b.Min), slices.Compare(a.Max, b.Max))
}

// mergedRanges returns spans as ranges of keys, with overlapping ones merged.
func mergedRanges(of *topology.Collection, spans []keySpan) []shardkey.Range {
	var all []shardkey.Range
	for _, s := range spans {
		lo, errLo := of.Key.PrefixBound(s.min)
		hi, errHi := of.Key.PrefixBound(s.max)
		if errLo == nil && errHi == nil && lo.Compare(hi) < 0 {
			all = append(all, shardkey.Range{Min: lo, Max: hi})
		}
	}
	slices.SortFunc(all, func(a, b shardkey.Range) int { return a.Min.Compare(b.Min) })
	var out []shardkey.Range
	for _, r := range all {
		if n := len(out); n > 0 && r.Min.Compare(out[n-1].Max) <= 0 {
			if r.Max.Compare(out[n-1].Max) > 0 {
				out[n-1].Max = r.Max
			}
			continue
		}
		out = append(out, r)
	}
	return out
}

// plus adds the counts of two parts of one window, such as before and after a restart. Either may
// be nil.
func (c *Counts) plus(o *Counts) *Counts {
	if c == nil || o == nil {
		return cmp.Or(c, o)
	}
	out := &Counts{Method: o.Method, Seconds: c.Seconds + o.Seconds, Sampled: c.Sampled || o.Sampled, Capped: c.Capped || o.Capped,
		Total: c.Total.plus(o.Total), Astray: c.Astray.plus(o.Astray), More: max(c.More, o.More), Shards: map[string]Tally{}, Until: o.Until}
	for _, part := range []*Counts{c, o} {
		for shard, t := range part.Shards {
			out.Shards[shard] = out.Shards[shard].plus(t)
		}
		out.Chunks, out.Others = plusTallies(out.Chunks, part.Chunks), plusTallies(out.Others, part.Others)
	}
	out.Others = hottestOf(out.Others)
	slices.SortFunc(out.Chunks, compareHotness)
	if n := len(out.Chunks) - chunksListed; n > 0 {
		out.Chunks, out.More = out.Chunks[:chunksListed], out.More+n
	}
	return out
}

// plusTallies adds the writes of chunks to those of the same ones.
func plusTallies(list, more []ChunkTally) []ChunkTally {
	for _, ch := range more {
		i := slices.IndexFunc(list, func(x ChunkTally) bool { return string(x.Min) == string(ch.Min) && string(x.Max) == string(ch.Max) })
		if i < 0 {
			list = append(list, ch)
			continue
		}
		list[i].Tally, list[i].Shard = list[i].plus(ch.Tally), ch.Shard
	}
	return list
}

// rate is a tally divided by the seconds counted.
func (c *Counts) rate(t Tally) heat.Rate {
	if c.Seconds <= 0 {
		return heat.Rate{AtLeast: true}
	}
	r := heat.Rate{PerSecond: t.Estimate / c.Seconds, Exact: !c.Sampled && !c.Capped, AtLeast: c.Capped, Rows: t.Rows}
	if c.Sampled {
		// Zero sampled rows do not prove that there were none: three in ten seconds' sampling are
		// within 95 %.
		r.PlusMinus = max(1.96*math.Sqrt(t.Variance), 3*10) / c.Seconds
	}
	return r
}
