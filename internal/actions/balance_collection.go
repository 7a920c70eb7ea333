package actions

import (
	"strconv"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// BalanceCollection enables or disables balancing of a collection.
const BalanceCollection Kind = "balance-collection"

func describeBalanceCollection() Description {
	return Description{
		Kind:  BalanceCollection,
		Title: "Turn balancing of a collection on or off",
		Lead:  "Allows or forbids the balancer to move this collection’s chunks.",
		Proof: "The setting of the collection.",
		Undo:  "Restores the previous setting. Chunks that the balancer has moved by then stay where they are.",
		Arguments: []Argument{argNS.needed(), argOn.needed().choosing("The balancer",
			"Whether the balancer may move the collection’s chunks.", "may move its chunks", "must leave its chunks where they are")},
		Sends: []operation.Op{operation.OpBalancing},
		plan:  planBalanceCollection,
	}
}

func planBalanceCollection(d *draftBuilder) (Draft, Args, error) {
	c, on := d.c, *d.a.On
	if c.NoBalance != on {
		d.block("switch", d.fromTable(topology.PartRouting), message.New("switch.already",
			"It is already set this way.", message.Text("on", strconv.FormatBool(on))))
	} else {
		d.step(d.setting(c, operation.Step{Op: operation.OpBalancing, On: on}))
	}
	if !on {
		d.add(d.warnOfDraining(c))
	}
	ns, back := message.Namespace("ns", c.NS), !on
	undo := Undo{Possible: true, Kind: BalanceCollection, Args: Args{NS: c.NS, On: &back}}
	if on {
		undo.Text = message.New("balance-collection.on",
			"Turns balancing of {ns} off. Chunks that the balancer has moved by then stay where they are.", ns)
		return d.finish(message.New("balance-collection.on", "Turn on balancing of {ns}.", ns), undo)
	}
	undo.Text = message.New("balance-collection.off", "Turns balancing of {ns} on again.", ns)
	return d.finish(message.New("balance-collection.off", "Turn off balancing of {ns}.", ns), undo)
}
