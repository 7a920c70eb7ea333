package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// waitsForBalancer reports whether the plan leaves moves to the balancer.
func (d *plannedSteps) waitsForBalancer() bool {
	return slices.ContainsFunc(d.steps, operation.Step.Awaits)
}

// checkBalancer warns that a running balancer may move the same chunks first. If the
// plan leaves the moves to the balancer, it must be on.
func (d *draftBuilder) checkBalancer() (out findings) {
	b := d.s.Table.Balancer
	src := d.fromTable(topology.PartSettings)
	switch {
	case !b.Known:
		out.warn("balancer", src, message.New("balancer.unknown", "It is not known whether the balancer is on."))
	case d.waitsForDrain(): // has its own check
	case d.waitsForBalancer() && b.Broken():
		out.block("balancer", src, b.RefusedText())
	case d.waitsForBalancer() && !b.Moves():
		out.block("balancer", src, message.New("balancer.needed",
			"The balancer has to move the chunks, but it is off. Turn it on, or use the mode “moves”."))
	case d.waitsForBalancer():
		out.pass("balancer", src, message.New("balancer.works", "The balancer is on and will move the chunks."))
		for _, k := range d.movedCollections() {
			if k.c.NoBalance {
				out.block("balancer", src, message.New("balancer.collectionOff",
					"The balancer has to move the chunks, but balancing of {ns} is off.", message.Namespace("ns", k.c.NS)))
			}
		}
	case d.pausesBalancing:
		out.pass("balancer", src, message.New("balancer.paused",
			"Balancing is paused during this run and turned on again at its end, "+
				"also after a stop, a failure or a crash of shardboard.", message.Text("what", d.a.Pause)))
	case len(d.futures) == 0:
		out.pass("balancer", src, message.New("balancer.apart", "The balancer does not interfere with this change."))
	case b.Moves():
		out.warn("balancer", src, message.New("balancer.races",
			"The balancer is on. If one of its moves is in the way, the run waits for up to 15 minutes; "+
				"moves that the balancer has already made are not repeated."))
	case b.Broken():
		out.warn("balancer", src, b.RefusedText())
	default:
		out.pass("balancer", src, message.New("balancer.off", "The balancer is off: it moves no chunks during this run."))
	}
	return out
}

// checkWindow says when the balancer may run, because the window shows when the operators
// of this cluster want data to move. Its times are by the config server's clock, whose
// time zone cannot be read.
func (d *draftBuilder) checkWindow() (out findings) {
	b := d.s.Table.Balancer
	if len(d.moves) == 0 || d.description.Kind == BalancerWindow {
		return out
	}
	if !b.Limited() {
		out.pass("window", d.fromTable(topology.PartSettings), message.New("window.none", "No balancing window is set."))
		return out
	}
	text := message.New("window.set",
		"The balancer may move chunks only {window}, by the config server’s clock, whose time zone is not known here.",
		message.Text("window", b.When()))
	if d.waitsForBalancer() {
		text.Code, text.Pattern = "window.awaits", "The balancer moves chunks only {window}, by the config server’s clock."
	}
	out.warn("window", d.fromTable(topology.PartSettings), text)
	return out
}

// maxExplained is how many moved ranges are checked against the balancer's rules.
const maxExplained = 64

// CheckUndoByBalancer is the check whether the balancer will move something back.
const CheckUndoByBalancer = "undo-by-balancer"

// checkBalancerAfter applies the balancer's rules to the table after the steps, and warns
// when the balancer would move something away again.
func (d *draftBuilder) checkBalancerAfter() (out findings) {
	if len(d.futures) == 0 && len(d.zones) == 0 {
		return out
	}
	after := d.tableAfter()
	for _, k := range d.changedCollections() {
		c := after.Collection(k.c.NS)
		if c == nil || c.Chunks == nil {
			continue
		}
		plan := balance.PlanOf(balance.Situation{Table: after}, c)
		for n, m := range d.moves {
			if m.k != k || n >= maxExplained {
				continue
			}
			i, ch := c.Chunks.Find(m.lo)
			if ch.Shard != m.to {
				continue
			}
			e := plan.Explain(i)
			if e.Due == "" || ch.Jumbo || m.awaited {
				continue
			}
			text := message.New("undo-by-balancer."+string(e.Due), "", message.Namespace("ns", c.NS), message.Shard("shard", m.to),
				message.Coded("reason", string(e.Due), e.Due.Label()))
			switch {
			case !d.s.Table.Balancer.Moves():
				text.Code = "undo-by-balancer.whenOn"
				text.Pattern = "When the balancer is turned on, it will move some of {ns} away from {shard} again ({reason})."
			case e.Due == balance.Zone:
				text.Pattern = "{shard} is not in the zone of this range: the balancer will move it away again."
			case e.Due == balance.Draining:
				text.Pattern = "{shard} is draining: the balancer will move the chunk away again."
			default:
				text.Pattern = "The balancer will reverse part of this: {shard} would have more of {ns} than its share."
			}
			out.warn(CheckUndoByBalancer, d.fromRule(), text)
			return out
		}
	}
	if d.splitsOnly() && d.s.Release.AtLeast(7, 0, 0) && !d.s.Table.Balancer.AutoMergeOff {
		out.warn(CheckUndoByBalancer, d.fromRule(), message.New("undo-by-balancer.autoMerge",
			"While the balancer is on, MongoDB 7.0 and later merges adjacent chunks of one shard again."))
		return out
	}
	if len(d.moves) > 0 || d.cuts > 0 {
		out.pass(CheckUndoByBalancer, d.fromRule(), message.New("undo-by-balancer.stays",
			"By its rules the balancer will leave the result as it is."))
	}
	return out
}

// splitsOnly reports whether the plan splits and moves nothing. Since 7.0 the balancer
// merges such neighbouring chunks again, except where that is turned off.
func (d *draftBuilder) splitsOnly() bool {
	return len(d.moves) == 0 && slices.ContainsFunc(d.steps, func(s operation.Step) bool {
		c := d.s.Table.Collection(s.NS)
		return s.Effects().Splits && (c == nil || !c.AutoMergeOff)
	})
}
