package actions

import (
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkRecipients: a shard that is being emptied takes nothing, and one outside
// of a zone is refused (before 6.0) or has it taken away again. Whether it fits on
// its disk is another check.
func (d *draftBuilder) checkRecipients() {
	for _, name := range d.recipients() {
		s := d.shard(name)
		if s != nil && s.Draining {
			d.block("recipient", d.fromTable(topology.PartShards), message.New("recipient.draining",
				"{shard} is draining and takes no chunks.", message.Shard("shard", name)))
			continue
		}
		if zone, ok := d.outside(name); ok {
			d.block("recipient", d.fromTable(topology.PartZones), message.New("recipient.outside",
				"{shard} is not in the zone {zone}, which this range belongs to. Change the zone first.",
				message.Shard("shard", name), message.Zone("zone", zone)))
			continue
		}
		if !d.zonesRead() {
			d.warn("recipient", d.fromTable(topology.PartZones), message.New("recipient.zonesUnread",
				"It is not known whether the zones allow this range on {shard}: they could not be read.",
				message.Shard("shard", name)))
			continue
		}
		d.pass("recipient", d.fromTable(topology.PartShards), message.New("recipient.takes",
			"{shard} can take it.", message.Shard("shard", name)))
	}
}

// outside is a zone of something that the shard is to take and that it does not carry.
func (d *draftBuilder) outside(shard string) (string, bool) {
	for _, m := range d.moves {
		if m.to != shard {
			continue
		}
		for _, z := range meeting(d.ranges(m.k.c.NS), m.lo, m.hi) {
			if !d.carries(shard, z.Zone) {
				return z.Zone, true
			}
		}
	}
	return "", false
}

// checkDuplicates: ids that rows there have too make a migration fail without a
// word of it.
func (d *draftBuilder) checkDuplicates() {
	bad := false
	for _, m := range d.moves {
		from, to := m.k.c.Chunks.Overlap(shardkey.Range{Min: m.lo, Max: m.hi})
		for i := from; i < to && len(d.s.Shared) > 0; i++ {
			for _, danger := range placement.Dangers(m.k.c, i, d.s.Shared) {
				if danger.Shard == m.to && !bad {
					bad = true
					d.block("duplicates", message.New("checked",
						"The check for duplicate ids at {at}", message.Time("at", d.s.SharedAt)), message.New("duplicates.found",
						"{shard} already has {ids} of the ids that would be moved with {ns}, for example {id}: the move "+
							"would fail. Remove one copy of each first.",
						message.Namespace("ns", m.k.c.NS), message.Shard("shard", m.to), message.Key("id", danger.IDs[0].Hex()),
						message.Count("ids", len(danger.IDs))))
				}
			}
		}
	}
	switch {
	case bad:
	case !d.sharable():
		d.pass("duplicates", d.fromRule(), message.New("duplicates.unique",
			"An id cannot be on two shards, because the shard key begins with _id."))
	case d.s.SharedAt.IsZero():
		d.warn("duplicates", message.New("notChecked",
			"The check for duplicate ids has not run"), message.New("duplicates.unchecked",
			"The cluster has not been checked for ids that are on both shards; a move would fail on them. Run "+
				"the check for duplicate ids."))
	default:
		d.pass("duplicates", message.New("checked",
			"The check for duplicate ids at {at}", message.Time("at", d.s.SharedAt)), message.New("duplicates.none",
			"No document id in this range is known to be on the other shard too."))
	}
}

// sharable tells whether two shards can have one id: not when the key begins with it.
func (d *draftBuilder) sharable() bool {
	return slices.ContainsFunc(d.moves, func(m transfer) bool { return m.k.c.Key.Fields()[0].Name != "_id" })
}

// checkCleanup: what a shard gave away it must have deleted before it can take
// it back; such a move fails after 10 s (observed on MongoDB 5.0.7). That a range
// was given away lately is known from the changelog; whether the clean-up was
// waited for only of our own moves. Where orphans are counted, a count of none
// decides. It never blocks: a run waits until the shard has deleted them.
func (d *draftBuilder) checkCleanup() {
	for _, c := range d.cleanups() {
		m, ok := d.collides(c)
		if !ok {
			continue
		}
		if orphans, known := d.orphans(m); known && orphans == 0 {
			continue
		}
		text := message.New("cleanup.pending",
			"{shard} may still have to delete documents of {ns} that were moved away from it. Until then this "+
				"range cannot return there; the run waits.",
			message.Namespace("ns", c.NS), message.Shard("shard", c.Shard))
		switch {
		case !c.Until.IsZero() && !c.Since.IsZero():
			text = message.New("cleanup.pendingSince",
				"This range of {ns} was moved away from {shard} at {since}; it cannot return before about {until}. "+
					"The run waits until then.",
				message.Namespace("ns", c.NS), message.Shard("shard", c.Shard), message.Time("since", c.Since),
				message.Time("until", c.Until))
		case !c.Until.IsZero():
			text = message.New("cleanup.pendingUntil",
				"{shard} still has to delete documents of {ns} that were moved away from it. This range cannot "+
					"return there before about {until}; the run waits.",
				message.Namespace("ns", c.NS), message.Shard("shard", c.Shard), message.Time("until", c.Until))
		}
		d.warn("cleanup", d.fromTable(topology.PartEvents), text)
		return
	}
	text := message.New("cleanup.none",
		"No range clean-up is known to be pending on the receiving shard.")
	for _, c := range d.s.Cleaned {
		if m, ok := d.collides(c); ok {
			text = message.New("cleanup.done",
				"{shard} has deleted the documents of {ns} that were moved away from it: the move waited for that, "+
					"so the range can return at once.",
				message.Namespace("ns", m.k.c.NS), message.Shard("shard", c.Shard))
		}
	}
	d.pass("cleanup", d.fromTable(topology.PartEvents), text)
}

// cleanups are those that were asked of the cluster; by the table's changelog
// when it did not say. Those that are known to be done are left out.
func (d *draftBuilder) cleanups() []Cleanup {
	all := slices.Clone(d.s.Activity.Cleanups)
	if !d.s.Activity.Known && len(all) == 0 {
		for _, e := range d.s.Table.Events {
			if c, ok := GivenAway(e); ok && e.Time.Add(OrphanDelay).After(d.s.Now) {
				c.Until = e.Time.Add(OrphanDelay)
				all = append(all, c)
			}
		}
	}
	return slices.DeleteFunc(all, func(c Cleanup) bool { return slices.ContainsFunc(d.s.Cleaned, c.Same) })
}

// collides finds a move that brings back what is to be cleaned up; a clean-up
// whose range is not known may be in the way of any.
func (d *draftBuilder) collides(c Cleanup) (transfer, bool) {
	for _, m := range d.moves {
		if m.k.c.NS != c.NS || m.to != c.Shard {
			continue
		}
		lo, errLo := m.k.c.Key.Bound(c.Min)
		hi, errHi := m.k.c.Key.Bound(c.Max)
		if errLo != nil || errHi != nil || lo.Compare(m.hi) < 0 && hi.Compare(m.lo) > 0 {
			return m, true
		}
	}
	return transfer{}, false
}

// orphans is how many of the collection the recipient has; known when they were
// counted after the last time that it gave something away.
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
