package actions

import (
	"strconv"

	"shardboard/internal/message"
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
	d := draft(s, BalanceCollection, a)
	if c.NoBalance != on {
		d.block("switch", d.fromTable(topology.PartRouting), message.New("switch.already",
			"It is already set this way.", message.Text("on", strconv.FormatBool(on))))
	} else {
		need := sameCollection(c)
		need.Want["noBalance"] = strconv.FormatBool(c.NoBalance)
		d.step(Step{Op: OpBalancing, NS: c.NS, On: on, Needs: []Fact{need},
			Proof: []Fact{{Kind: FactCollection, NS: c.NS, Want: map[string]string{"noBalance": strconv.FormatBool(!on)}}}})
	}
	if !on {
		for _, sh := range s.Table.Shards {
			if sh.Draining && c.Chunks.CountByShard()[sh.Name] > 0 {
				d.warn("switch", d.fromTable(topology.PartShards), message.New("switch.drains",
					"{shard} is draining and has chunks of {ns}; they will stay there.",
					message.Namespace("ns", c.NS), message.Shard("shard", sh.Name)))
			}
		}
	}
	ns, back := message.Namespace("ns", c.NS), !on
	undo := Undo{Possible: true, Kind: BalanceCollection, Args: Args{NS: c.NS, On: &back}}
	if on {
		undo.Text = message.New("balance-collection.on",
			"Balancing of {ns} is disabled again. Chunks that the balancer has moved by then stay where they are.", ns)
		return d.finish(message.New("balance-collection.on", "Let the balancer move chunks of {ns}.", ns), undo)
	}
	undo.Text = message.New("balance-collection.off", "Balancing of {ns} is enabled again.", ns)
	return d.finish(message.New("balance-collection.off", "Stop the balancer from moving chunks of {ns}.", ns), undo)
}
