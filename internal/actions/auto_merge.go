package actions

import (
	"strconv"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// AutoMerge enables or disables the automatic merging of a collection's chunks.
const AutoMerge Kind = "auto-merge"

func describeAutoMerge() Description {
	return Description{
		Kind:  AutoMerge,
		Title: "Turn automatic merging of a collection on or off",
		Lead: "Since MongoDB 7.0 the balancer merges adjacent chunks of one shard. Turn that off for a collection whose chunks " +
			"are to stay as they were split.",
		Proof: "The setting of the collection.",
		Undo:  "Restores the previous setting. Chunks that were merged by then stay merged.",
		Since: balance.Release{7, 0, 0},
		Arguments: []Argument{argNS.needed(), argOn.needed().choosing("Automatic merging",
			"Whether the balancer merges adjacent chunks of the collection.", "on", "off")},
		Sends: []operation.Op{operation.OpAutoMerge},
		plan:  planAutoMerge,
	}
}

func planAutoMerge(d *draftBuilder) (Draft, Args, error) {
	c, on := d.c, *d.a.On
	if c.AutoMergeOff != on {
		d.block("switch", d.fromTable(topology.PartRouting), message.New("switch.already",
			"It is already set this way.", message.Text("on", strconv.FormatBool(on))))
	} else {
		d.step(d.setting(c, operation.Step{Op: operation.OpAutoMerge, On: on}))
	}
	ns, back := message.Namespace("ns", c.NS), !on
	undo := Undo{Possible: true, Kind: AutoMerge, Args: Args{NS: c.NS, On: &back}}
	if on {
		b := d.s.Table.Balancer
		switch {
		case b.AutoMergeOff && b.Moves():
			d.warn("merging", d.fromTable(topology.PartSettings), message.New("merging.clusterOff",
				"Automatic merging is off for the whole cluster: it begins after sh.startAutoMerger()."))
		case b.Known && (!b.Moves() || c.NoBalance):
			d.warn("merging", d.fromTable(topology.PartSettings), message.New("merging.waits",
				"Merging is a part of the balancer, which is off for {ns} now. It begins when balancing is on.", ns))
		default:
			d.pass("merging", d.fromRule(), message.New("merging.begins",
				"The balancer will merge adjacent chunks of {ns} that are on one shard, usually once an hour. It moves nothing.", ns))
		}
		undo.Text = message.New("auto-merge.on", "Turns automatic merging of {ns} off. Chunks that were merged by then stay merged.", ns)
		return d.finish(message.New("auto-merge.on", "Turn on automatic merging of {ns}.", ns), undo)
	}
	d.pass("merging", d.fromRule(), message.New("merging.stays",
		"Chunks of {ns} stay as they are split. Their number can grow, and the routing table with it.", ns))
	undo.Text = message.New("auto-merge.off", "Turns automatic merging of {ns} on again.", ns)
	return d.finish(message.New("auto-merge.off", "Turn off automatic merging of {ns}.", ns), undo)
}
