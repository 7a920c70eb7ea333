package outcome

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// Credit is how much of what a run is judged by is its doing.
type Credit struct {
	// Moved is the share of the writes after the run that go to ranges which it took from the hottest shard or, by chunks,
	// from the hottest chunk, at most the share that these ranges may have had before.
	Moved float64
	// Without is what the share of the hottest would be after the run if these ranges had stayed.
	Without float64
	// Others is the share of the writes after the run that go to ranges which others took from the hottest shard, capped
	// likewise, and OthersBefore the share that these ranges had before.
	Others, OthersBefore float64

	here float64 // what the share of the hottest shard of before would be if the run's ranges had stayed
}

// leastLeft is the least of the writes that the shard would have had without the run, as a part of those before: with
// less, its load fell by itself.
const leastLeft = 0.75

// muchMore is how many times the writes before the run those after it are when most of them began meanwhile: then the
// shares before the run say too little of them.
const muchMore = 2

// judgeRun compares the hottest before with the hottest after, and says that the run helped only when the share would
// not have fallen without it by more than what others moved explains.
func (o *Outcome) judgeRun(in []CollectionRecord) (Verdict, float64) {
	p, n, m := o.Before.Share, o.Before.Total.Rows, o.After.Total.Rows
	v, plusMinus := judge(p, n, o.After.Share, m)
	if (v == NoChange || v == Worse) && o.After.Total.PerSecond > muchMore*o.Before.Total.PerSecond {
		o.Begun = true
		return Unclear, plusMinus
	}
	if v != Helped {
		return v, plusMinus
	}
	listed, more := false, false
	for _, c := range in {
		listed = listed || c.Before != nil && len(c.Before.Chunks) > 0
		more = more || c.After != nil && c.After.More > 0
	}
	if !listed {
		return v, plusMinus // a batch that was measured before its chunks were recorded
	}
	o.Credit = o.creditOf(in, n)
	left := max(p-surely(o.Credit.OthersBefore, n), 0) // what others did not take
	fell, _ := judge(left, n, o.Credit.here, m)
	itsPart, _ := judge(o.Credit.Without, m, o.After.Share, m)
	switch {
	case itsPart != Helped && more:
		return Unclear, plusMinus
	case itsPart != Helped:
		return NotThis, plusMinus
	case fell == Helped, o.Credit.here*o.After.Total.PerSecond < leastLeft*left*o.Before.Total.PerSecond:
		return Unclear, plusMinus
	}
	return Helped, plusMinus
}

// creditOf adds up the writes to what was on the hottest shard before, or in the hottest chunk, and is not after: what
// the run changed, and what others moved.
func (o *Outcome) creditOf(in []CollectionRecord, n int64) Credit {
	stays := 0.0
	for _, s := range o.Shards {
		if o.Basis == ByShards && s.Shard == o.Before.Hottest {
			stays = s.After.Share
		}
	}
	hottest := o.hottestChunk()
	own, others := gone{of: o, rows: n}, gone{of: o, rows: n}
	for _, c := range in {
		if c.Before == nil || c.After == nil {
			continue
		}
		left := func(from, to ChunkTally) bool { return from.Shard == o.Before.Hottest && to.Shard != from.Shard }
		if o.Basis == ByShards {
			others.add(c, c.Before.Others, c.After.Others, left)
		} else {
			left = func(from, _ ChunkTally) bool { return hottest.is(c, from) }
		}
		own.add(c, c.Before.Chunks, c.After.Chunks, left)
	}
	moved := own.share()
	out := Credit{Moved: moved, Others: others.share(), OthersBefore: others.allowed, here: min(1, stays+moved)}
	out.Without = out.here
	for _, s := range o.Shards {
		if o.Basis == ByShards && s.Shard != o.Before.Hottest {
			out.Without = max(out.Without, s.After.Share-own.into[s.Shard])
		}
	}
	return out
}

// surely is the least that a share of so many counted rows may be.
func surely(share float64, rows int64) float64 {
	if rows == 0 {
		return 0
	}
	return max(share-1.96*math.Sqrt(share*(1-min(share, 1))/float64(rows)), 0)
}

// gone is the writes to ranges that left the hottest shard.
type gone struct {
	of             *Outcome
	rows           int64 // counted before
	moved, allowed float64
	into           map[string]float64 // by shard, of what was moved
}

// add adds the chunks of a collection that left.
func (g *gone) add(c CollectionRecord, before, after []ChunkTally, left func(from, to ChunkTally) bool) {
	here := make([]float64, len(before)) // by chunk before: the share of what has left it
	were := newPlaces(before)
	for _, to := range after {
		if i := were.of(to); i >= 0 && left(before[i], to) {
			share := shareOf(c.After.rate(to.Tally), g.of.After.Total)
			here[i] += share
			if g.into == nil {
				g.into = map[string]float64{}
			}
			g.into[to.Shard] += share
		}
	}
	for i, share := range here {
		if share > 0 {
			g.moved += share
			g.allowed += shareOf(c.Before.rate(before[i].Tally), g.of.Before.Total)
		}
	}
}

// share is the share of the writes after the run, at most what the ranges may have had before.
func (g *gone) share() float64 {
	most := g.allowed
	if g.rows > 0 {
		most += 1.96 * math.Sqrt(most*(1-min(most, 1))/float64(g.rows))
	}
	return min(g.moved, most)
}

// hottestChunk is the chunk with the largest share before.
func (o *Outcome) hottestChunk() (hottest *ChunkChange) {
	for i, c := range o.Chunks {
		if c.Before != nil && (hottest == nil || c.Before.Share > hottest.Before.Share) {
			hottest = &o.Chunks[i]
		}
	}
	return hottest
}

// is tells whether a chunk of a record is this one.
func (c *ChunkChange) is(of CollectionRecord, t ChunkTally) bool {
	return c != nil && c.NS == of.NS && string(c.Min) == string(t.Min) && string(c.Max) == string(t.Max)
}

// places are chunks whose bounds can be compared with those of others.
type places []struct {
	first  string // the lower bound as it is stored
	lo, hi shardkey.Key
	ok     bool
}

func newPlaces(chunks []ChunkTally) places {
	out := make(places, len(chunks))
	for i, c := range chunks {
		lo, okLo := orderOf(c.Min)
		hi, okHi := orderOf(c.Max)
		out[i].first, out[i].lo, out[i].hi, out[i].ok = string(c.Min), lo, hi, okLo && okHi
	}
	return out
}

// of is the chunk that holds the lower bound of another one, -1 if none does. A merge of chunks counts for the first of
// them.
func (all places) of(c ChunkTally) int {
	at, ok := orderOf(c.Min)
	for i, p := range all {
		if p.first == string(c.Min) || ok && p.ok && p.lo.Compare(at) <= 0 && at.Compare(p.hi) < 0 {
			return i
		}
	}
	return -1
}

// orderOf is a stored bound as a key that can be compared: hashes are numbers in it.
func orderOf(bound bson.Raw) (shardkey.Key, bool) {
	elements, err := bound.Elements()
	if err != nil {
		return shardkey.Key{}, false
	}
	plain := bson.D{}
	for _, e := range elements {
		plain = append(plain, bson.E{Key: e.Key(), Value: int32(1)})
	}
	raw, err := bson.Marshal(plain)
	if err != nil {
		return shardkey.Key{}, false
	}
	p, err := shardkey.ParsePattern(raw)
	if err != nil {
		return shardkey.Key{}, false
	}
	k, err := p.Bound(bound)
	return k, err == nil
}
