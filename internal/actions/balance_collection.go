package actions

import (
	"strconv"

	"shardboard/internal/topology"
)

// planBalanceCollection lets the balancer move a collection's chunks, or not.
// Takes ns and on.
func planBalanceCollection(s Situation, a Args) (Draft, Args, error) {
	if err := a.only(BalanceCollection, "ns", "on"); err != nil {
		return Draft{}, a, err
	}
	c, err := collectionOf(s.Table, BalanceCollection, a.NS)
	if err != nil {
		return Draft{}, a, err
	}
	if a.On == nil {
		return Draft{}, a, missing(BalanceCollection, "on", "true or false")
	}
	on := *a.On
	d := newDraft(s, BalanceCollection, a)
	if c.NoBalance != on {
		d.check(Check{ID: "switch", Verdict: Block, Text: say("switch.already", "on", strconv.FormatBool(on)), Source: d.fromTable(topology.PartRouting)})
	} else {
		need := sameCollection(c)
		need.Want["noBalance"] = strconv.FormatBool(c.NoBalance)
		d.step(Step{Op: OpBalancing, NS: c.NS, On: on, Needs: []Fact{need},
			Proof: []Fact{{Kind: FactCollection, NS: c.NS, Want: map[string]string{"noBalance": strconv.FormatBool(!on)}}}})
	}
	if !on {
		for _, sh := range s.Table.Shards {
			if sh.Draining && c.Chunks.CountByShard()[sh.Name] > 0 {
				d.check(Check{ID: "switch", Verdict: Warn, Text: say("switch.drains", "ns", string(c.NS), "shard", sh.Name), Source: d.fromTable(topology.PartShards)})
			}
		}
	}
	back, code := !on, "balance-collection.off"
	if on {
		code = "balance-collection.on"
	}
	return d.finish(say(code, "ns", string(c.NS)), Undo{Possible: true, Text: say(code, "ns", string(c.NS)), Kind: BalanceCollection, Args: Args{NS: c.NS, On: &back}})
}
