package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Defragment starts or stops the defragmentation of a collection.
const Defragment Kind = "defragment"

func describeDefragment() Description {
	return Description{
		Kind:  Defragment,
		Title: "Defragment a collection",
		Lead: "Lets the balancer merge this collection’s many small chunks, and move some so that they can be merged. It works in the " +
			"background, often for hours or days. The run ends when it has begun; the collection’s page shows how far it is.",
		Proof:     "The setting of the collection: the balancer has it to do, or is in its last phase.",
		Undo:      "Stops it, or starts it again. What was merged or moved by then stays so.",
		Since:     balance.Release{5, 3, 0},
		LeastRisk: Medium,
		Arguments: []Argument{argNS.needed(), argOn.needed().choosing("Defragmentation",
			"Whether the balancer defragments the collection.", "start it", "stop it")},
		Sends: []operation.Op{operation.OpDefragment},
		plan:  planDefragment,
	}
}

func planDefragment(d *draftBuilder) (Draft, Args, error) {
	c, on := d.c, *d.a.On
	ns, back := message.Namespace("ns", c.NS), !on
	src := d.fromTable(topology.PartRouting)
	undo := Undo{Possible: true, Kind: Defragment, Args: Args{NS: c.NS, On: &back}}
	if !on {
		switch b := d.s.Table.Balancer; {
		case !c.Defragmenting:
			d.block("switch", src, message.New("switch.notDefragmenting", "{ns} is not being defragmented.", ns))
		case c.Ending():
			d.block("switch", src, message.New("switch.endsAlready",
				"The defragmentation of {ns} is in its last phase ({phase}) and ends by itself.", ns, message.Text("phase", c.Phase)))
		default:
			d.step(d.setting(c, operation.Step{Op: operation.OpDefragment}))
			if b.Known && !b.Moves() {
				d.warn("ends", d.fromTable(topology.PartSettings), message.New("ends.waits",
					"The balancer goes to the last phase at once, but finishes that only when it is on again."))
			} else {
				d.pass("ends", d.fromRule(), message.New("ends.soon",
					"The balancer goes to the last phase at once, in which it still merges chunks for a while."))
			}
		}
		undo.Text = message.New("defragment.off", "Starts to defragment {ns} again, from the beginning.", ns)
		return d.finish(message.New("defragment.off", "Stop defragmenting {ns}.", ns), undo)
	}
	if c.Defragmenting {
		d.block("switch", src, message.New("switch.defragmenting", "{ns} is being defragmented already.", ns))
	} else {
		d.step(d.setting(c, operation.Step{Op: operation.OpDefragment, On: true}))
		d.add(d.checkDefragmentable(c))
	}
	undo.Text = message.New("defragment.on",
		"Stops it. Chunks that were merged by then stay merged, and chunks that were moved stay where they are.")
	return d.finish(message.New("defragment.on", "Start to defragment {ns}.", ns), undo)
}

// checkDefragmentable reports whether the balancer will defragment the collection, and
// what that does.
func (d *draftBuilder) checkDefragmentable(c *topology.Collection) (out findings) {
	ns, src := message.Namespace("ns", c.NS), d.fromTable(topology.PartSettings)
	if r := d.s.Release; r.AtLeast(6, 0, 0) && !r.AtLeast(6, 0, 4) || r.AtLeast(6, 1, 0) && !r.AtLeast(6, 1, 2) {
		out.leastRisk = High
		out.warn("defect", d.fromRule(), message.New("defect.defragment",
			"MongoDB’s manual advises against defragmenting with MongoDB {release}. Upgrade first.", message.Text("release", r.String())))
	}
	switch b := d.s.Table.Balancer; {
	case c.NoBalance:
		out.block("works", src, message.New("works.collectionOff",
			"The balancer has to defragment {ns}, but balancing of {ns} is off. Turn it on first.", ns))
	case c.MigrationsBlocked:
		out.block("works", src, message.New("works.blocked",
			"The balancer has to move chunks of {ns}, but moves of it are blocked (allowMigrations: false). Allow them first.", ns))
	case !b.Known:
		out.warn("works", src, message.New("works.unknown", "It is not known whether the balancer is on, which has to do the work."))
	case b.Broken():
		out.block("works", src, b.RefusedText())
	case !b.Moves():
		out.block("works", src, message.New("works.off", "The balancer has to defragment {ns}, but it is off. Turn it on first.", ns))
	case b.Limited():
		out.warn("works", src, message.New("works.window",
			"The balancer works only {window}, by the config server’s clock, so it can take many days.",
			message.Text("window", b.When())))
	default:
		out.pass("works", src, message.New("works.on", "The balancer is on and will do the work."))
	}
	out.warn("background", d.fromRule(), message.New("background.load",
		"The balancer measures every chunk, merges those that fit into one, and moves some between shards for that. Until it has "+
			"finished, {ns} is not balanced otherwise, and every merge renews a part of the routing table.", ns))
	if c.Chunks.Len() == 1 {
		out.warn("few", d.fromTable(topology.PartRouting), message.New("few.one", "{ns} has only one chunk: there is nothing to merge.", ns))
	}
	return out
}
