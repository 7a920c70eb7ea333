package spread

import (
	"iter"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
)

// spread is an amount for each shard of which most are the same: those of others are 0 or unknown. So a row of one of
// ten thousand collections costs the shards that have a part of it.
type spread struct {
	others amount
	on     []shardAmount
}

// everywhere is the same amount on each shard.
func everywhere(a amount) spread { return spread{others: a} }

// at is the amount of the shard at a position.
func (s spread) at(shard int) amount {
	for _, x := range s.on {
		if x.shard == shard {
			return x.amount
		}
	}
	return s.others
}

// dense has an amount for each of n shards.
func (s spread) dense(n int) []amount {
	return s.fill(make([]amount, n))
}

// fill is dense in a list that is there.
func (s spread) fill(list []amount) []amount {
	for i := range list {
		list[i] = s.others
	}
	for _, x := range s.on {
		list[x.shard] = x.amount
	}
	return list
}

// total is the sum of all shards: others are 0 or unknown, so that one of them counts as all.
func (s spread) total() (sum amount) {
	for _, x := range s.on {
		sum = sum.plus(x.amount)
	}
	return sum.plus(s.others)
}

func (s spread) allKnown() bool {
	return !slices.ContainsFunc(s.on, func(x shardAmount) bool { return !x.known })
}

// addSpreads adds spreads to sums by shard.
func addSpreads(sums []amount, all iter.Seq[*spread]) {
	var everywhere amount
	for s := range all {
		if len(s.on) > 0 && !(s.others.known && s.allKnown()) {
			for i := range sums {
				sums[i] = sums[i].plus(s.at(i))
			}
			continue
		}
		for _, x := range s.on { // a certain 0 beside them changes no sum of what is known
			sums[x.shard] = sums[x.shard].plus(x.amount)
		}
		everywhere = everywhere.plus(s.others)
	}
	if everywhere == (amount{}) {
		return // an empty amount is unknown
	}
	for i := range sums {
		sums[i] = sums[i].plus(everywhere)
	}
}

// sizesByShard are a collection's amounts; a shard that has no part of it has a certain zero. at has the positions of
// shards.
func sizesByShard(t *topology.Table, ns topology.Namespace, measure matrixMeasure, at map[string]int) spread {
	parts, others := t.PartsOf(ns)
	out := spread{others: measure.ofSize(&others), on: make([]shardAmount, 0, len(parts))}
	var held []string
	if !out.others.known {
		if held = answer.Holders(t, ns); len(held) > 0 {
			for _, shard := range held {
				_, has := parts[shard]
				if i, ok := at[shard]; ok && !has {
					out.on = append(out.on, shardAmount{i, out.others})
				}
			}
			out.others = nothing()
		}
	}
	for shard := range parts {
		size := parts[shard]
		a := measure.ofSize(&size)
		if !a.known && len(held) == 0 {
			held = answer.Holders(t, ns)
		}
		if !a.known && len(held) > 0 && !slices.Contains(held, shard) {
			a = nothing()
		}
		if i, ok := at[shard]; ok {
			out.on = append(out.on, shardAmount{i, a})
		}
	}
	if len(out.on) == len(at) { // there are no others
		out.others = nothing()
	}
	return out
}
