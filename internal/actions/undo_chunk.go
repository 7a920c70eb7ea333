package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"slices"
)

// undoSplitAt merges the two parts again.
func (d *draftBuilder) undoSplitAt(s operation.Step) error {
	c, at, err := d.keyOf(s.NS, s.At)
	if err != nil {
		return err
	}
	k := d.future(c)
	right := k.at(at)
	if right.Min.Compare(at) != 0 {
		return nil // merged already
	}
	left := chunkEndingAt(k, at)
	if home := ownerBefore(s); left.Shard != right.Shard && d.description.Adapts && d.shard(home) != nil {
		d.moveAllTo(k, left.Min, right.Max, home)
	} else if left.Shard != right.Shard {
		return d.chunksChanged("the two parts of a chunk are now on different shards", k, left.Min, right.Max, []futureChunk{left, right})
	}
	d.merge(k, left.Min, right.Max)
	return nil
}

func (d *draftBuilder) undoSplitMedian(s operation.Step) error {
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	return d.mergeAgain(d.future(c), lo, hi, ownerBefore(s))
}

// undoMove moves a range back, and merges it with the chunk from which it was cut.
func (d *draftBuilder) undoMove(s operation.Step) error {
	c, lo, hi, err := d.rangeOf(s)
	if err != nil {
		return err
	}
	was, ok := sourceChunk(s)
	if !ok {
		return undoConflict("it is not known where a chunk was")
	}
	k := d.future(c)
	on := s.Shard
	if d.description.Adapts {
		on = "" // wherever the balancer has moved it since
	}
	d.moveBack(k, lo, hi, on, was.Want["shard"])
	wholeLo, errLo := c.Key.Bound(was.Min)
	wholeHi, errHi := c.Key.Bound(was.Max)
	if errLo == nil && errHi == nil && (wholeLo.Compare(lo) < 0 || wholeHi.Compare(hi) > 0) {
		return d.mergeAgain(k, wholeLo, wholeHi, was.Want["shard"])
	}
	return nil
}

// undoAwait moves back what the balancer moved. Chunks that have left a draining shard stay where they are.
func (d *draftBuilder) undoAwait(s operation.Step, effect Effect) error {
	if s.AwaitsDrain() {
		return nil
	}
	return d.undoBalancerMoves(s, effect)
}

// splitAgain splits a merged chunk at the bounds that it had. They are among the
// preconditions of the merge.
func (d *draftBuilder) splitAgain(s operation.Step) error {
	for _, f := range s.Needs {
		if f.Kind != operation.FactEdge {
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

// sourceChunk returns the chunk that a step changed, as it was before; false when the
// step does not say.
func sourceChunk(s operation.Step) (operation.Fact, bool) {
	i := slices.IndexFunc(s.Needs, func(f operation.Fact) bool { return f.Kind == operation.FactChunk && f.Want["shard"] != "" })
	if i < 0 {
		return operation.Fact{}, false
	}
	return s.Needs[i], true
}

// ownerBefore returns the shard of that chunk; "" when the step does not say.
func ownerBefore(s operation.Step) string {
	f, _ := sourceChunk(s)
	return f.Want["shard"]
}

// undoBalancerMoves moves back what the plan expected the balancer to move.
func (d *draftBuilder) undoBalancerMoves(s operation.Step, effect Effect) error {
	if len(effect.Moves) >= maxListedMoves {
		return fault.New(fault.Conflict,
			"The balancer has moved too much for one plan to move back. Unpin the project, and the balancer distributes its data evenly.")
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
		d.moveBack(d.future(c), from, to, "", m.From)
	}
	return nil
}

// moveBack moves the parts of a range that are on a shard ("" for any shard) to where they were.
func (d *draftBuilder) moveBack(k *futureChunks, lo, hi shardkey.Key, on, to string) {
	for _, p := range k.within(lo, hi) {
		if on == "" || p.Shard == on {
			d.move(k, shardkey.Later(p.Min, lo), shardkey.Earlier(p.Max, hi), to)
		}
	}
}

// mergeAgain merges the chunks of a range into one. In an undo of a kind that adapts,
// parts that are elsewhere now move back to home first. Otherwise they are a conflict.
func (d *draftBuilder) mergeAgain(k *futureChunks, lo, hi shardkey.Key, home string) error {
	parts := k.within(lo, hi)
	if len(parts) == 1 && d.description.Adapts {
		return nil // one chunk, or part of one that the server has merged
	}
	if parts[0].Min.Compare(lo) != 0 || parts[len(parts)-1].Max.Compare(hi) != 0 {
		if d.description.Adapts {
			return nil // the server has merged or split across the ends since; its chunks stay as they are
		}
		return d.chunksChanged("the parts of a chunk now have other bounds", k, lo, hi, parts)
	}
	if d.description.Adapts && d.shard(home) != nil {
		d.moveAllTo(k, lo, hi, home)
		parts = k.within(lo, hi)
	}
	for _, p := range parts {
		if p.Shard != parts[0].Shard {
			return d.chunksChanged("the parts of a chunk are now on different shards", k, lo, hi, parts)
		}
	}
	if len(parts) > 1 {
		d.merge(k, lo, hi)
	}
	return nil
}

// moveAllTo moves all chunks of a range to one shard.
func (d *draftBuilder) moveAllTo(k *futureChunks, lo, hi shardkey.Key, home string) {
	for _, p := range k.within(lo, hi) {
		if p.Shard != home {
			d.move(k, p.Min, p.Max, home)
		}
	}
}

// chunkEndingAt returns the chunk that ends at a key.
func chunkEndingAt(k *futureChunks, at shardkey.Key) futureChunk {
	i, ch := k.c.Chunks.Find(at)
	if ch.Min.Compare(at) == 0 && i > 0 {
		ch = k.c.Chunks.At(i - 1)
	}
	all := k.within(ch.Min, at)
	return all[len(all)-1]
}
