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
	// Without is what the share would be after the run if these ranges had stayed.
	Without float64
}

// leastLeft is the least of the writes that the shard would have had without the run, as a part of those before: with
// less, its load fell by itself.
const leastLeft = 0.75

// judgeRun compares the hottest before with the hottest after, and says that the run helped only when the share would
// not have fallen without it.
func (o *Outcome) judgeRun(in []CollectionRecord) (Verdict, float64) {
	p, n, m := o.Before.Share, o.Before.Total.Rows, o.After.Total.Rows
	v, plusMinus := judge(p, n, o.After.Share, m)
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
	o.Credit = o.creditOf(in, p, n)
	fell, _ := judge(p, n, o.Credit.Without, m)
	itsPart, _ := judge(o.Credit.Without, m, o.After.Share, m)
	switch {
	case itsPart != Helped && more:
		return Unclear, plusMinus
	case itsPart != Helped:
		return NotThis, plusMinus
	case fell == Helped, o.Credit.Without*o.After.Total.PerSecond < leastLeft*p*o.Before.Total.PerSecond:
		return Unclear, plusMinus
	}
	return Helped, plusMinus
}

// creditOf adds up the writes to what was on the hottest shard before, or in the hottest chunk, and is not after.
func (o *Outcome) creditOf(in []CollectionRecord, p float64, n int64) Credit {
	stays, moved, capped := 0.0, 0.0, 0.0
	for _, s := range o.Shards {
		if o.Basis == ByShards && s.Shard == o.Before.Hottest {
			stays = s.After.Share
		}
	}
	hottest := o.hottestChunk()
	for _, c := range in {
		if c.Before == nil || c.After == nil {
			continue
		}
		here := make([]float64, len(c.Before.Chunks)) // by chunk before: the share of what has left it
		before := newPlaces(c.Before.Chunks)
		for _, to := range c.After.Chunks {
			i := before.of(to)
			if i < 0 {
				continue
			}
			from := c.Before.Chunks[i]
			left := from.Shard == o.Before.Hottest && to.Shard != from.Shard
			if o.Basis == ByChunks {
				left = hottest.is(c, from)
			}
			if left {
				here[i] += shareOf(c.After.rate(to.Tally), o.After.Total)
			}
		}
		for i, share := range here {
			if share > 0 {
				moved += share
				capped += shareOf(c.Before.rate(c.Before.Chunks[i].Tally), o.Before.Total)
			}
		}
	}
	if n > 0 {
		capped += 1.96 * math.Sqrt(capped*(1-min(capped, 1))/float64(n))
	}
	moved = min(moved, capped)
	return Credit{Moved: moved, Without: min(1, stays+moved)}
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
