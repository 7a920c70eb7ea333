package actions

import (
	"strconv"

	"shardboard/internal/topology"
)

// BalanceCollection lets the balancer move a collection's chunks, or forbids it.
const BalanceCollection Kind = "balance-collection"

func describeBalanceCollection() Description {
	return Description{
		Kind:      BalanceCollection,
		Title:     "Balance a collection, or not",
		Lead:      "Lets the balancer move this collection’s chunks, or keeps it from that.",
		Proof:     "The setting of the collection.",
		Undo:      "The opposite. What the balancer has moved meanwhile stays there.",
		Arguments: []Argument{argNS.needed(), argOn.needed()},
		plan:      planBalanceCollection,
	}
}

func planBalanceCollection(d *draftBuilder) (Draft, Args, error) {
	s, c, on := d.s, d.c, *d.a.On
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
