package actions

import (
	"slices"

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
			d.check(Check{ID: "recipient", Verdict: Block, Text: say("recipient.draining", "shard", name), Source: d.fromTable(topology.PartShards)})
			continue
		}
		if zone, ok := d.outside(name); ok {
			d.check(Check{ID: "recipient", Verdict: Block, Text: say("recipient.outside", "shard", name, "zone", zone), Source: d.fromTable(topology.PartZones)})
			continue
		}
		if !d.zonesRead() {
			d.check(Check{ID: "recipient", Verdict: Warn, Text: say("recipient.zonesUnread", "shard", name), Source: d.fromTable(topology.PartZones)})
			continue
		}
		d.check(Check{ID: "recipient", Verdict: Pass, Text: say("recipient.takes", "shard", name), Source: d.fromTable(topology.PartShards)})
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
					d.check(Check{ID: "duplicates", Verdict: Block,
						Text:   say("duplicates.found", "ns", string(m.k.c.NS), "shard", m.to, "id", danger.IDs[0].Hex(), "ids", count(len(danger.IDs))),
						Source: say("checked", "at", moment(d.s.SharedAt))})
				}
			}
		}
	}
	switch {
	case bad:
	case !d.sharable():
		d.check(Check{ID: "duplicates", Verdict: Pass, Text: say("duplicates.unique"), Source: d.fromRule()})
	case d.s.SharedAt.IsZero():
		d.check(Check{ID: "duplicates", Verdict: Warn, Text: say("duplicates.unchecked"), Source: say("notChecked")})
	default:
		d.check(Check{ID: "duplicates", Verdict: Pass, Text: say("duplicates.none"), Source: say("checked", "at", moment(d.s.SharedAt))})
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
		text := say("cleanup.pending", "ns", string(c.NS), "shard", c.Shard)
		switch {
		case !c.Until.IsZero() && !c.Since.IsZero():
			text = say("cleanup.pendingSince", "ns", string(c.NS), "shard", c.Shard, "since", moment(c.Since), "until", moment(c.Until))
		case !c.Until.IsZero():
			text = say("cleanup.pendingUntil", "ns", string(c.NS), "shard", c.Shard, "until", moment(c.Until))
		}
		d.check(Check{ID: "cleanup", Verdict: Warn, Text: text, Source: d.fromTable(topology.PartEvents)})
		return
	}
	text := say("cleanup.none")
	for _, c := range d.s.Cleaned {
		if m, ok := d.collides(c); ok {
			text = say("cleanup.done", "ns", string(m.k.c.NS), "shard", c.Shard)
		}
	}
	d.check(Check{ID: "cleanup", Verdict: Pass, Text: text, Source: d.fromTable(topology.PartEvents)})
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
