package actions

import (
	"shardboard/internal/message"
	"slices"
)

// Achieves are the facts that a step is to make true. When all of them are true
// already, nothing has to be sent.
func (s Step) Achieves() []Fact {
	if len(s.Goal) > 0 {
		return s.Goal
	}
	return s.Proof
}

// Remaining drafts what is left to do of confirmed steps: the same ranges, zones
// and recipients, with the chunks as they are now. A draft without steps means that
// nothing is left, an *UndoConflictError that the rest cannot be done any more.
func Remaining(s Situation, kind Kind, a Args, summary message.Message, steps []Step) (Draft, error) {
	d := newDraft(s, kind.Describe(), a)
	d.continuing = true
	for _, step := range steps {
		if err := d.remaining(step); err != nil {
			return Draft{}, err
		}
	}
	out, _, err := d.finish(summary, Undo{Possible: true, Text: message.New("redo",
		"To make the change again, make the first plan again.")})
	return out, err
}

// remaining adds what is left of one step.
func (d *draftBuilder) remaining(s Step) error {
	switch s.Op {
	case OpSplitAt:
		c, at, err := d.keyOf(s.NS, s.At)
		if err != nil {
			return err
		}
		d.splitAt(d.future(c), at)
	case OpSplitMedian:
		return d.remainingMedian(s)
	case OpMove, OpMoveRange:
		return d.remainingMove(s)
	case OpMerge:
		return d.remainingMerge(s)
	case OpAddZone, OpRemoveZone, OpSetRange, OpRemoveRange:
		return d.remainingZone(s)
	case OpAwait:
		if !d.holds(s.Proof) {
			d.step(s)
		}
	case OpBalancing, OpBalancerOn, OpBalancerOff, OpBalancerWindow:
		if s.Restores || !d.holds(s.Proof) {
			d.step(s) // its needs are few, and say what it changes
		}
	default:
		if !d.holds(s.Proof) {
			d.step(s)
		}
	}
	return nil
}

// holds tells whether facts are so in the table.
func (d *draftBuilder) holds(facts []Fact) bool {
	return !slices.ContainsFunc(facts, func(f Fact) bool { return len(d.differences(f)) > 0 })
}

func (d *draftBuilder) remainingMedian(s Step) error {
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	k := d.future(c)
	parts := k.within(lo, hi)
	switch {
	case parts[0].Min.Compare(lo) != 0 || parts[len(parts)-1].Max.Compare(hi) != 0:
		return d.scattered("the chunk to split is part of a larger one now", k, lo, hi, parts)
	case len(parts) == 1:
		d.splitMedian(k, parts[0])
	}
	return nil
}

// remainingMove moves what of the range is not where it is to be.
func (d *draftBuilder) remainingMove(s Step) error {
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	if d.shard(s.Shard) == nil {
		return undoConflict("a shard is not there any more", d.differences(exists(s.Shard))...)
	}
	off := "" // the only shard that it has to leave; "" when all have to
	for _, f := range s.Goal {
		if f.Kind == FactHeld {
			off = f.Shard
		}
	}
	k := d.future(c)
	for _, p := range k.within(lo, hi) {
		if p.Shard == s.Shard || off != "" && p.Shard != off {
			continue
		}
		d.moveOff(k, later(p.Min, lo), earlier(p.Max, hi), s.Shard, off)
	}
	return nil
}

// remainingMerge joins what fills the range; parts that went elsewhere since come
// back first. Only undos have such steps in a plan that is adapted: they join what
// was cut. When the server has merged or cut across the ends since, that is left.
func (d *draftBuilder) remainingMerge(s Step) error {
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
	if planned := homeOf(s); len(planned) == 1 && d.shard(planned[0]) != nil {
		home = planned[0]
	}
	d.gather(k, lo, hi, home)
	if parts = k.within(lo, hi); len(parts) > 1 {
		d.merge(k, lo, hi)
	}
	return nil
}

func (d *draftBuilder) remainingZone(s Step) error {
	if s.Op == OpAddZone || s.Op == OpRemoveZone {
		if d.shard(s.Shard) == nil {
			return undoConflict("a shard is not there any more", d.differences(exists(s.Shard))...)
		}
		if s.Op == OpAddZone {
			d.addZone(s.Shard, s.Zone)
		} else {
			d.removeZone(s.Shard, s.Zone)
		}
		return nil
	}
	z, there := rangeWith(d.ranges(s.NS), s.Min, s.Max)
	if s.Op == OpRemoveRange {
		switch {
		case there && z.Zone != s.Zone:
			return undoConflict("another zone range is in its place", d.differences(rangeIs(s.NS, s.Min, s.Max, s.Zone))...)
		case there:
			d.removeRange(z)
		}
		return nil
	}
	if there && z.Zone == s.Zone {
		return nil
	}
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	if len(meeting(d.ranges(s.NS), lo, hi)) > 0 {
		return undoConflict("another zone range is in its place", d.differences(zoneRanges(s.NS, s.Min, s.Max, 0))...)
	}
	d.setRange(c, lo, hi, s.Zone)
	return nil
}
