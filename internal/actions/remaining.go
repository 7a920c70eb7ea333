package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
)

// Remaining drafts what is left to do of confirmed steps: the same ranges, zones
// and recipients, with the chunks as they are now. A draft without steps means that
// nothing is left. An *UndoConflictError means that the rest has become impossible.
func Remaining(s Situation, kind Kind, a Args, summary message.Message, steps []operation.Step) (Draft, error) {
	d := newDraft(s, Describe(kind), a)
	d.continuing = true
	for _, step := range steps {
		if err := d.remaining(step); err != nil {
			return Draft{}, err
		}
	}
	out, _, err := d.finish(summary, Undo{Possible: true})
	return out, err
}

// remaining plans what is left of one step.
func (d *draftBuilder) remaining(s operation.Step) error {
	if rest := draftings[s.Op].rest; rest != nil {
		return rest(d, s)
	}
	if s.Restores || !d.holds(s.Proof) {
		d.step(s)
	}
	return nil
}

func (d *draftBuilder) remainingSplit(s operation.Step) error {
	c, at, err := d.keyOf(s.NS, s.At)
	if err == nil {
		d.splitAt(d.future(c), at)
	}
	return err
}

// holds reports whether facts are true in the table.
func (d *plannedCluster) holds(facts []operation.Fact) bool {
	return !slices.ContainsFunc(facts, func(f operation.Fact) bool { return len(d.differences(f)) > 0 })
}

func (d *draftBuilder) remainingMedian(s operation.Step) error {
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	k := d.future(c)
	parts := k.within(lo, hi)
	switch {
	case parts[0].Min.Compare(lo) != 0 || parts[len(parts)-1].Max.Compare(hi) != 0:
		return d.chunksChanged("the chunk to split is now part of a larger chunk", k, lo, hi, parts)
	case len(parts) == 1:
		d.splitMedian(k, parts[0])
	}
	return nil
}

// remainingMove moves the parts of the range that are not on the recipient yet.
func (d *draftBuilder) remainingMove(s operation.Step) error {
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	for _, other := range s.Others { // another one than planned, if that one goes away
		if on := d.shard(s.Shard); on != nil && !on.Draining {
			break
		}
		if d.shard(other) != nil {
			s = s.To(other, true)
		}
	}
	if d.shard(s.Shard) == nil {
		return undoConflict("a shard no longer exists", d.differences(shardExists(s.Shard))...)
	}
	off := "" // the shard that the range has to leave; "" for every shard but the recipient
	for _, f := range s.Goal {
		if f.Kind == operation.FactHeld {
			off = f.Shard
		}
	}
	k := d.future(c)
	for _, p := range k.within(lo, hi) {
		if p.Shard == s.Shard || off != "" && p.Shard != off {
			continue
		}
		d.moveAnywhereOff(k, shardkey.Later(p.Min, lo), shardkey.Earlier(p.Max, hi), s.Shard, off, s.Others)
	}
	return nil
}

// remainingMerge merges the chunks of the range. Parts that are on other shards now come
// back first. Only undos have merges among steps that are adapted. If the server has
// since merged or split chunks across the ends of the range, nothing is merged.
func (d *draftBuilder) remainingMerge(s operation.Step) error {
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	k := d.future(c)
	parts := k.within(lo, hi)
	if parts[0].Min.Compare(lo) != 0 || parts[len(parts)-1].Max.Compare(hi) != 0 {
		return nil
	}
	home := parts[0].Shard
	if planned := plannedShard(s); len(planned) == 1 && d.shard(planned[0]) != nil {
		home = planned[0]
	}
	d.moveAllTo(k, lo, hi, home)
	if parts = k.within(lo, hi); len(parts) > 1 {
		d.merge(k, lo, hi)
	}
	return nil
}

func (d *draftBuilder) remainingMembership(s operation.Step) error {
	if d.shard(s.Shard) == nil {
		return undoConflict("a shard no longer exists", d.differences(shardExists(s.Shard))...)
	}
	if s.Effects().FillsZone {
		d.addZone(s.Shard, s.Zone)
	} else {
		d.removeZone(s.Shard, s.Zone)
	}
	return nil
}

func (d *draftBuilder) remainingRemoveRange(s operation.Step) error {
	switch z, there := rangeWithBounds(d.ranges(s.NS), s.Min, s.Max); {
	case there && z.Zone != s.Zone:
		return undoConflict("another zone range overlaps it now", d.differences(zoneOfRange(s.NS, s.Min, s.Max, s.Zone))...)
	case there:
		d.removeRange(z)
	}
	return nil
}

// remainingSetRange sets the range unless it is set.
func (d *draftBuilder) remainingSetRange(s operation.Step) error {
	if z, there := rangeWithBounds(d.ranges(s.NS), s.Min, s.Max); there && z.Zone == s.Zone {
		return nil
	}
	return d.setRangeOf(s)
}
