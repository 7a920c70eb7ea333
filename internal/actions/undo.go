package actions

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// PlanUndo makes the draft that takes back steps that have had their effect, in
// the order in which they were done, from the situation of now. Zones go back
// first, since they would refuse moves against them; then chunks, the last step
// first. was is the summary of what is taken back; effect is the plan's: it says
// what the balancer was awaited to move. A *UndoConflictError when what the steps made
// has been changed again since.
func PlanUndo(s Situation, kind Kind, a Args, was message.Message, done []Step, effect Effect) (Draft, error) {
	d := newDraft(s, kind.Describe(), a)
	d.undoing = true
	// What was paused for the run is back; pausing is no change of its own.
	done = slices.DeleteFunc(slices.Clone(done), func(s Step) bool { return s.Pauses || s.Restores })
	for i := len(done) - 1; i >= 0; i-- {
		if err := d.undoZone(done[i]); err != nil {
			return Draft{}, err
		}
	}
	for i := len(done) - 1; i >= 0; i-- {
		if err := d.undoChunk(done[i], effect); err != nil {
			return Draft{}, err
		}
	}
	out, _, err := d.finish(undoing(was, len(d.steps)), Undo{Text: message.New("redo",
		"To make the change again, make the first plan again.")})
	return out, err
}

// undoing is the summary of an undo: the summary of what is undone, with its
// facts, after a few words.
func undoing(was message.Message, steps int) message.Message {
	if was.Pattern == "" { // of a run whose record has no words
		was.Pattern = "{of}"
	}
	out := message.New("undo.many", "Undo with {steps} commands: "+was.Pattern, was.Facts...)
	if steps == 1 {
		out.Code, out.Pattern = "undo.one", "Undo with one command: "+was.Pattern
	}
	return out.With(message.Words("of", was.Code)).With(message.Count("steps", steps))
}

// undoZone takes back a step on zones or settings.
func (d *draftBuilder) undoZone(s Step) error {
	switch s.Op {
	case OpAddZone, OpRemoveZone:
		if d.shard(s.Shard) == nil {
			return undoConflict("a shard is not there any more", d.differences(exists(s.Shard))...)
		}
		if s.Op == OpAddZone {
			d.removeZone(s.Shard, s.Zone)
		} else {
			d.addZone(s.Shard, s.Zone)
		}
	case OpSetRange:
		z, ok := rangeWith(d.ranges(s.NS), s.Min, s.Max)
		if !ok && d.about.Adapts && d.noneThere(s) {
			return nil // taken away already, by this undo or by somebody else
		}
		if !ok || z.Zone != s.Zone {
			return undoConflict("a zone range is not as this run has set it", d.differences(rangeIs(s.NS, s.Min, s.Max, s.Zone))...)
		}
		d.removeRange(z)
	case OpRemoveRange:
		c, lo, hi, err := d.rangeOf(s)
		if err != nil {
			return err
		}
		if len(meeting(d.ranges(s.NS), lo, hi)) > 0 {
			return undoConflict("another zone range is in its place", d.differences(zoneRanges(s.NS, s.Min, s.Max, 0))...)
		}
		d.setRange(c, lo, hi, s.Zone)
	case OpBalancerOn, OpBalancerOff:
		on := s.Op == OpBalancerOff
		next := Step{Op: OpBalancerOff, Needs: []Fact{balancerIs(!on)}, Proof: []Fact{balancerIs(on)}}
		if on {
			next.Op = OpBalancerOn
		}
		d.step(next)
	case OpBalancerWindow:
		for _, f := range s.Needs {
			if start, ok := f.Want["windowStart"]; ok && f.Kind == FactBalancer {
				stop := f.Want["windowStop"]
				d.step(
					Step{Op: OpBalancerWindow, Start: start, Stop: stop, Needs: []Fact{windowIs(s.Start, s.Stop)}, Proof: []Fact{windowIs(start, stop)}},
				)
				return nil
			}
		}
		return fault.New(fault.Conflict, "This cannot be undone: the window that was set before is not known.")
	case OpBalancing:
		c := d.s.Table.Collection(s.NS)
		if c == nil {
			return collectionGone(s.NS)
		}
		need := sameCollection(c)
		need.Want["noBalance"] = strconv.FormatBool(!s.On)
		d.step(Step{Op: OpBalancing, NS: s.NS, On: !s.On, Needs: []Fact{need},
			Proof: []Fact{{Kind: FactCollection, NS: s.NS, Want: map[string]string{"noBalance": strconv.FormatBool(s.On)}}}})
	}
	return nil
}

// undoChunk takes back a step on chunks.
func (d *draftBuilder) undoChunk(s Step, effect Effect) error {
	switch s.Op {
	case OpSplitAt:
		c, at, err := d.keyOf(s.NS, s.At)
		if err != nil {
			return err
		}
		k := d.future(c)
		right := k.at(at)
		if right.Min.Compare(at) != 0 {
			return nil // joined already
		}
		left := before(k, at)
		if home := ownerBefore(s); left.Shard != right.Shard && d.about.Adapts && d.shard(home) != nil {
			d.gather(k, left.Min, right.Max, home)
		} else if left.Shard != right.Shard {
			return d.scattered("the two halves of a chunk are on different shards now", k, left.Min, right.Max, []futureChunk{left, right})
		}
		d.merge(k, left.Min, right.Max)
	case OpSplitMedian:
		c, lo, hi, err := d.rangeOf(s)
		if err != nil {
			return err
		}
		return d.join(d.future(c), lo, hi, ownerBefore(s))
	case OpMove, OpMoveRange:
		c, lo, hi, err := d.rangeOf(s)
		if err != nil {
			return err
		}
		was, ok := cameFrom(s)
		if !ok {
			return undoConflict("where a chunk was is not known")
		}
		k := d.future(c)
		on := s.Shard
		if d.about.Adapts {
			on = "" // the balancer may have moved it on: it belongs where it was all the same
		}
		d.back(k, lo, hi, on, was.Want["shard"])
		wholeLo, errLo := c.Key.Bound(was.Min)
		wholeHi, errHi := c.Key.Bound(was.Max)
		if errLo == nil && errHi == nil && (wholeLo.Compare(lo) < 0 || wholeHi.Compare(hi) > 0) {
			return d.join(k, wholeLo, wholeHi, was.Want["shard"])
		}
	case OpMerge:
		return d.cutAgain(s)
	case OpAwait:
		return d.backAll(s, effect)
	}
	return nil
}

// cutAgain divides a merged chunk where it was divided: the bounds are needs of
// the merge.
func (d *draftBuilder) cutAgain(s Step) error {
	for _, f := range s.Needs {
		if f.Kind != FactEdge {
			continue
		}
		c, at, err := d.keyOf(f.NS, f.Min)
		if err != nil {
			return err
		}
		d.splitAt(d.future(c), at)
	}
	return nil
}

// cameFrom is the chunk that a move took its range from.
func cameFrom(s Step) (Fact, bool) {
	for _, f := range s.Needs {
		if f.Kind == FactChunk && f.Want["shard"] != "" {
			return f, true
		}
	}
	return Fact{}, false
}

// backAll moves back what the balancer was seen to move for a plan.
func (d *draftBuilder) backAll(s Step, effect Effect) error {
	if len(effect.Moves) >= listed {
		return fault.New(fault.Conflict,
			"The balancer has moved too much for one plan to move it back. Unpin the project, and the balancer evens the shards out.")
	}
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	for _, m := range effect.Moves {
		from, errFrom := c.Key.Bound(m.Min)
		to, errTo := c.Key.Bound(m.Max)
		if m.NS != s.NS || errFrom != nil || errTo != nil || from.Compare(hi) >= 0 || to.Compare(lo) <= 0 {
			continue
		}
		d.back(d.future(c), from, to, "", m.From)
	}
	return nil
}

// back moves what of a range is on a shard ("" for any) to where it was.
func (d *draftBuilder) back(k *futureChunks, lo, hi shardkey.Key, on, to string) {
	for _, p := range k.within(lo, hi) {
		if on == "" || p.Shard == on {
			d.move(k, later(p.Min, lo), earlier(p.Max, hi), to)
		}
	}
}

// join makes one chunk of a range again. Parts that went elsewhere since come back
// to home first, in an undo that has a goal; else they are an objection.
func (d *draftBuilder) join(k *futureChunks, lo, hi shardkey.Key, home string) error {
	parts := k.within(lo, hi)
	if len(parts) == 1 && d.about.Adapts {
		return nil // one chunk, or part of one that the server has merged further
	}
	if parts[0].Min.Compare(lo) != 0 || parts[len(parts)-1].Max.Compare(hi) != 0 {
		if d.about.Adapts {
			return nil // the server has merged or cut it since: which chunks hold the range is its own business then
		}
		return d.scattered("the parts of a chunk have other bounds now", k, lo, hi, parts)
	}
	if d.about.Adapts && d.shard(home) != nil {
		d.gather(k, lo, hi, home)
		parts = k.within(lo, hi)
	}
	for _, p := range parts {
		if p.Shard != parts[0].Shard {
			return d.scattered("the parts of a chunk are on different shards now", k, lo, hi, parts)
		}
	}
	if len(parts) > 1 {
		d.merge(k, lo, hi)
	}
	return nil
}

// noneThere tells whether no zone range meets that of a step.
func (d *draftBuilder) noneThere(s Step) bool {
	_, lo, hi, err := d.rangeOf(s)
	return err == nil && len(meeting(d.ranges(s.NS), lo, hi)) == 0
}

// ownerBefore is the shard that had a chunk before a step cut it; "" when not known.
func ownerBefore(s Step) string {
	for _, f := range s.Needs {
		if f.Kind == FactChunk {
			return f.Want["shard"]
		}
	}
	return ""
}

// gather brings all of a range to one shard.
func (d *draftBuilder) gather(k *futureChunks, lo, hi shardkey.Key, home string) {
	for _, p := range k.within(lo, hi) {
		if p.Shard != home {
			d.move(k, p.Min, p.Max, home)
		}
	}
}

// before is the chunk that ends at a key.
func before(k *futureChunks, at shardkey.Key) futureChunk {
	i, ch := k.c.Chunks.Find(at)
	if ch.Min.Compare(at) == 0 && i > 0 {
		ch = k.c.Chunks.At(i - 1)
	}
	all := k.within(ch.Min, at)
	return all[len(all)-1]
}

func (d *draftBuilder) keyOf(ns topology.Namespace, doc bson.Raw) (*topology.Collection, shardkey.Key, error) {
	c := d.s.Table.Collection(ns)
	if c == nil || c.Chunks.Len() == 0 {
		return nil, shardkey.Key{}, collectionGone(ns)
	}
	k, err := c.Key.Bound(doc)
	if err != nil {
		return nil, k, keyChanged(c, doc)
	}
	return c, k, nil
}

func (d *draftBuilder) rangeOf(s Step) (*topology.Collection, shardkey.Key, shardkey.Key, error) {
	c, lo, err := d.keyOf(s.NS, s.Min)
	if err != nil {
		return nil, lo, lo, err
	}
	_, hi, err := d.keyOf(s.NS, s.Max)
	return c, lo, hi, err
}
