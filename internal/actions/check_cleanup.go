package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// checkCleanup warns when a range moves back to a shard that may not have deleted it
// yet. Such a move fails after 10 s (observed on MongoDB 5.0.7). The changelog shows
// which ranges were given away recently. Only of our own moves is it known whether they
// waited for the clean-up. On releases that count orphans, a count of zero means that
// it is done. The check never blocks, because a run waits for the clean-up.
func (d *draftBuilder) checkCleanup() (out findings) {
	if c, ok := d.lastCleanup(); ok {
		text := message.New("cleanup.pending",
			"{shard} may not have deleted documents of {ns} yet that were moved away from it. Until then this "+
				"range cannot move back there; the run waits.",
			message.Namespace("ns", c.NS), message.Shard("shard", c.Shard))
		switch {
		case !c.Until.IsZero() && !c.Since.IsZero():
			text = message.New("cleanup.pendingSince",
				"This range of {ns} was moved away from {shard} at {since}; it cannot move back before about {until}. "+
					"The run waits until then.",
				message.Namespace("ns", c.NS), message.Shard("shard", c.Shard), message.Time("since", c.Since),
				message.Time("until", c.Until))
		case !c.Until.IsZero():
			text = message.New("cleanup.pendingUntil",
				"{shard} has not deleted documents of {ns} yet that were moved away from it. This range cannot "+
					"move back there before about {until}; the run waits.",
				message.Namespace("ns", c.NS), message.Shard("shard", c.Shard), message.Time("until", c.Until))
		}
		out.warn("cleanup", d.fromTable(topology.PartEvents), text)
		return out
	}
	text := message.New("cleanup.none",
		"No range clean-up is known to be pending on the receiving shard.")
	for _, c := range d.s.Cleaned {
		if m, ok := d.moveInto(c); ok {
			text = message.New("cleanup.done",
				"{shard} has deleted the documents of {ns} that were moved away from it, because that move waited "+
					"for the clean-up. The range can move back at once.",
				message.Namespace("ns", m.k.c.NS), message.Shard("shard", c.Shard))
		}
	}
	out.pass("cleanup", d.fromTable(topology.PartEvents), text)
	return out
}

// lastCleanup is the clean-up for which the moves wait longest.
func (d *draftBuilder) lastCleanup() (last operation.Cleanup, ok bool) {
	for _, c := range d.cleanups() {
		m, into := d.moveInto(c)
		if !into {
			continue
		}
		if orphans, known := d.orphans(m); known && orphans == 0 {
			continue
		}
		if !ok || c.Until.After(last.Until) {
			last, ok = c, true
		}
	}
	return last, ok
}

// cleanups returns the pending clean-ups that were read from the cluster, or else those
// that follow from the changelog in the table. It leaves out finished ones.
func (d *draftBuilder) cleanups() []operation.Cleanup {
	all := slices.Clone(d.s.Activity.Cleanups)
	if !d.s.Activity.Known && len(all) == 0 {
		for _, e := range d.s.Table.Events {
			if c, ok := operation.GivenAway(e); ok && e.Time.Add(OrphanDelay).After(d.s.Now) {
				c.Until = e.Time.Add(OrphanDelay)
				all = append(all, c)
			}
		}
	}
	return slices.DeleteFunc(all, func(c operation.Cleanup) bool { return slices.ContainsFunc(d.s.Cleaned, c.Same) })
}

// moveInto finds a move that would bring back a range before its clean-up. A clean-up
// whose range cannot be read may concern any move.
func (d *plannedCluster) moveInto(c operation.Cleanup) (transfer, bool) {
	for _, m := range d.moves {
		if m.k.c.NS == c.NS && m.to == c.Shard && c.OverlapsKeys(m.k.c.Key, m.lo, m.hi) {
			return m, true
		}
	}
	return transfer{}, false
}

// orphans returns how many orphaned documents of the collection the recipient has. It
// is known only if they were counted after the recipient last gave something away.
func (d *draftBuilder) orphans(m transfer) (int64, bool) {
	o := d.s.Table.SizeOn(m.k.c.NS, m.to).Orphans
	if !o.Known || o.At.IsZero() {
		return 0, false
	}
	for _, c := range d.cleanups() {
		if c.NS == m.k.c.NS && c.Shard == m.to && !o.At.After(c.Until.Add(-OrphanDelay)) {
			return 0, false
		}
	}
	return o.Value, true
}
