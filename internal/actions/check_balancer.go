package actions

import (
	"slices"

	"shardboard/internal/balance"
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
	is := func(v Verdict, code string, args ...string) {
		d.check(Check{ID: "balancer", Verdict: v, Text: say(code, args...), Source: src})
	}
	switch {
	case !b.Known:
		is(Warn, "balancer.unknown")
	case d.awaits() && (!b.Enabled() || b.Mode == "autoSplitOnly"):
		is(Block, "balancer.needed")
	case d.awaits():
		is(Pass, "balancer.works")
		for _, k := range d.movedCollections() {
			if k.c.NoBalance {
				is(Block, "balancer.collectionOff", "ns", string(k.c.NS))
			}
		}
	case d.paused:
		is(Pass, "balancer.paused", "what", d.a.Pause)
	case len(d.futures) == 0:
		is(Pass, "balancer.apart")
	case b.Enabled() && b.Mode != "autoSplitOnly":
		is(Warn, "balancer.races")
	default:
		is(Pass, "balancer.off")
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
		d.check(Check{ID: "window", Verdict: Pass, Text: say("window.none"), Source: d.fromTable(topology.PartSettings)})
		return
	}
	code := "window.set"
	if d.awaits() {
		code = "window.awaits"
	}
	d.check(Check{ID: "window", Verdict: Warn, Text: say(code, "start", b.WindowStart, "stop", b.WindowStop), Source: d.fromTable(topology.PartSettings)})
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
			code := "undo-by-balancer." + string(e.Due)
			if !d.s.Table.Balancer.Enabled() {
				code = "undo-by-balancer.whenOn"
			}
			d.check(Check{ID: "undo-by-balancer", Verdict: Warn, Text: say(code, "ns", string(c.NS), "shard", m.to, "reason", string(e.Due)), Source: d.fromRule()})
			return
		}
	}
	if d.splitsOnly() && d.s.Release.AtLeast(7, 0, 0) {
		d.check(Check{ID: "undo-by-balancer", Verdict: Warn, Text: say("undo-by-balancer.autoMerge"), Source: d.fromRule()})
		return
	}
	if len(d.moves) > 0 || d.cuts > 0 {
		d.check(Check{ID: "undo-by-balancer", Verdict: Pass, Text: say("undo-by-balancer.stays"), Source: d.fromRule()})
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
