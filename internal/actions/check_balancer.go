package actions

import (
	"slices"

	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// awaits tells whether the balancer is to do the moving.
func (d *draftBuilder) awaits() bool {
	return slices.ContainsFunc(d.steps, func(s Step) bool { return s.Op == OpAwait })
}

// checkBalancer: while it is on it may move the same chunks first; when it is
// to do the work it must be on.
func (d *draftBuilder) checkBalancer() {
	b := d.s.Table.Balancer
	src := d.fromTable(topology.PartSettings)
	switch {
	case !b.Known:
		d.warn("balancer", src, message.New("balancer.unknown", "It is not known whether the balancer is on."))
	case d.awaits() && (!b.Enabled() || b.Mode == "autoSplitOnly"):
		d.block("balancer", src, message.New("balancer.needed",
			"The balancer has to move the chunks, but it is off. Turn it on, or use the mode “moves”."))
	case d.awaits():
		d.pass("balancer", src, message.New("balancer.works", "The balancer is on and will move the chunks."))
		for _, k := range d.movedCollections() {
			if k.c.NoBalance {
				d.block("balancer", src, message.New("balancer.collectionOff",
					"The balancer has to move the chunks, but balancing is disabled for {ns}.", message.Namespace("ns", k.c.NS)))
			}
		}
	case d.paused:
		d.pass("balancer", src, message.New("balancer.paused",
			"Balancing is paused during this run and switched on again at its end, "+
				"also after a stop, a failure or a crash of shardboard.", message.Text("what", d.a.Pause)))
	case len(d.futures) == 0:
		d.pass("balancer", src, message.New("balancer.apart", "The balancer does not interfere with this change."))
	case b.Enabled() && b.Mode != "autoSplitOnly":
		d.warn("balancer", src, message.New("balancer.races",
			"The balancer is on. If one of its migrations is in the way, the run waits for up to 15 minutes; "+
				"moves that the balancer has done already are not repeated."))
	default:
		d.pass("balancer", src, message.New("balancer.off", "The balancer is off: it moves no chunks during this run."))
	}
}

// checkWindow: the window is when the operators of this cluster want data to
// move. Its times are of the config server's clock, which nobody tells.
func (d *draftBuilder) checkWindow() {
	b := d.s.Table.Balancer
	if len(d.moves) == 0 || d.kind == BalancerWindow {
		return
	}
	if b.WindowStart == "" || b.WindowStop == "" {
		d.pass("window", d.fromTable(topology.PartSettings), message.New("window.none", "No balancing window is set."))
		return
	}
	text := message.New("window.set",
		"The balancing window is {start} to {stop} by the config server’s clock, whose time zone is not known here.",
		message.Text("start", b.WindowStart), message.Text("stop", b.WindowStop))
	if d.awaits() {
		text.Code, text.Pattern = "window.awaits", "The balancer moves chunks only between {start} and {stop}, by the config server’s clock."
	}
	d.warn("window", d.fromTable(topology.PartSettings), text)
}

// judged bounds the moved ranges whose fate is asked of the balancer's rules.
const judged = 64

// checkUndone asks the balancer's own rules what it would do with the outcome.
func (d *draftBuilder) checkUndone() {
	if len(d.futures) == 0 && len(d.zones) == 0 {
		return
	}
	after := d.after()
	for _, k := range d.touched() {
		c := after.Collection(k.c.NS)
		if c == nil || c.Chunks == nil {
			continue
		}
		plan := balance.PlanOf(balance.Situation{Table: after}, c)
		for n, m := range d.moves {
			if m.k != k || n >= judged {
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
			case !d.s.Table.Balancer.Enabled():
				text.Code = "undo-by-balancer.whenOn"
				text.Pattern = "When the balancer is turned on, it will move some of {ns} away from {shard} again ({reason})."
			case e.Due == balance.Zone:
				text.Pattern = "{shard} is not in the zone of this range: the balancer will move it away again."
			case e.Due == balance.Draining:
				text.Pattern = "{shard} is draining: the balancer will move the chunk away again."
			default:
				text.Pattern = "{shard} will have too much of {ns}: the balancer will move some of it away again."
			}
			d.warn("undo-by-balancer", d.fromRule(), text)
			return
		}
	}
	if d.splitsOnly() && d.s.Release.AtLeast(7, 0, 0) {
		d.warn("undo-by-balancer", d.fromRule(), message.New("undo-by-balancer.autoMerge",
			"MongoDB 7.0 and later merges adjacent chunks on one shard again while the balancer is on."))
		return
	}
	if len(d.moves) > 0 || d.cuts > 0 {
		d.pass("undo-by-balancer", d.fromRule(), message.New("undo-by-balancer.stays",
			"By its rules the balancer will leave the result as it is."))
	}
}

// splitsOnly: cuts without moves leave neighbours on one shard, which releases
// from 7.0 on join again while the balancer is on.
func (d *draftBuilder) splitsOnly() bool {
	return len(d.moves) == 0 && slices.ContainsFunc(d.steps, func(s Step) bool { return s.Op == OpSplitAt || s.Op == OpSplitMedian })
}

// after is the table as the steps leave it; sizes follow the moves.
func (d *draftBuilder) after() *topology.Table {
	t := *d.s.Table
	t.Shards = d.shards
	t.Collections = slices.Clone(t.Collections)
	for i, c := range t.Collections {
		k := d.futures[c.NS]
		if k == nil {
			continue
		}
		next := *c
		if next.Chunks = k.chunks(); next.Chunks == nil {
			next.Chunks = c.Chunks
		}
		t.Collections[i] = &next
	}
	if len(d.zones) > 0 {
		var zones []topology.ZoneRange
		for _, z := range t.Zones {
			if _, changed := d.zones[z.NS]; !changed {
				zones = append(zones, z)
			}
		}
		for _, ns := range d.zonedNamespaces() {
			zones = append(zones, d.zones[ns]...)
		}
		slices.SortStableFunc(zones, func(a, b topology.ZoneRange) int {
			if a.NS != b.NS {
				if a.NS < b.NS {
					return -1
				}
				return 1
			}
			return a.Min.Compare(b.Min)
		})
		t.Zones = zones
	}
	t.Sizes = d.sizesAfter()
	return &t
}

func (d *draftBuilder) zonedNamespaces() []topology.Namespace {
	var out []topology.Namespace
	for ns := range d.zones {
		out = append(out, ns)
	}
	slices.Sort(out)
	return out
}

// sizesAfter moves the estimated bytes with the ranges.
func (d *draftBuilder) sizesAfter() map[topology.Namespace]topology.Sizes {
	out := map[topology.Namespace]topology.Sizes{}
	for ns, s := range d.s.Table.Sizes {
		out[ns] = s
	}
	for _, k := range d.movedCollections() {
		s := out[k.c.NS]
		if s.At.IsZero() {
			continue
		}
		shards := map[string]topology.Size{}
		for _, sh := range d.shards {
			shards[sh.Name] = d.s.Table.SizeOn(k.c.NS, sh.Name)
		}
		for _, m := range d.moves {
			if m.k != k {
				continue
			}
			moved := d.estimate(k.c, m.lo, m.hi, bytesOf)
			from, to := shards[m.from], shards[m.to]
			from.Bytes, to.Bytes = shifted(from.Bytes, moved, false), shifted(to.Bytes, moved, true)
			shards[m.from], shards[m.to] = from, to
		}
		s.Shards = shards
		out[k.c.NS] = s
	}
	return out
}
