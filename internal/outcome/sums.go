package outcome

import (
	"cmp"
	"math"
	"slices"

	"shardboard/internal/heat"
	"shardboard/internal/natural"
)

// addCollections lists the run's collections with their counts, and why one is not compared.
func (o *Outcome) addCollections(kept *Record, over bool) {
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
		least, leastAfter := leastCovered.Seconds(), leastCovered.Seconds()
		if !kept.Since.IsZero() {
			least = leastSoFar.Seconds()
		}
		if !kept.Until.IsZero() {
			leastAfter = leastSoFar.Seconds()
		}
		switch {
		case x.Not != "":
		case !over && x.CoveredAfter >= leastSoFar.Seconds() && x.CoveredBefore < least:
			x.Not = reasonGap // the time before the run does not come back
		case over && (x.CoveredBefore < least || x.CoveredAfter < leastAfter):
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

// addShards adds up the collections by shard and lists the chunks.
func (o *Outcome) addShards(in []CollectionRecord) {
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
		o.addChunks(c)
	}
	for _, s := range shards {
		o.Shards = append(o.Shards, *s)
	}
	o.rankShards()
	o.rankChunks()
}

// rankShards computes the shares of the shards and sorts them, hottest first.
func (o *Outcome) rankShards() {
	for i := range o.Shards {
		x := &o.Shards[i]
		x.Before.Share, x.After.Share = shareOf(x.Before, o.Before.Total), shareOf(x.After, o.After.Total)
		if o.Basis == ByShards {
			o.Before.offerHottest(x.Shard, x.Before.Share)
			o.After.offerHottest(x.Shard, x.After.Share)
		}
	}
	slices.SortFunc(o.Shards, func(a, b ShardChange) int {
		return cmp.Or(cmp.Compare(max(b.Before.Share, b.After.Share), max(a.Before.Share, a.After.Share)), natural.Compare(a.Shard, b.Shard))
	})
}

// rankChunks computes the shares of the chunks and sorts them, hottest first.
func (o *Outcome) rankChunks() {
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
				side.side.offerHottest(string(x.NS), side.rate.Share)
			}
		}
	}
	slices.SortStableFunc(o.Chunks, func(a, b ChunkChange) int { return cmp.Compare(b.maxShare(), a.maxShare()) })
}

// addChunks matches a collection's chunks before and after by their bounds.
func (o *Outcome) addChunks(c CollectionRecord) {
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

// offerHottest keeps the name with the largest share.
func (s *Side) offerHottest(name string, share float64) {
	if share > s.Share || share == s.Share && share > 0 && name < s.Hottest {
		s.Hottest, s.Share = name, share
	}
}

// maxShare is the larger of the shares before and after.
func (c ChunkChange) maxShare() (most float64) {
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
