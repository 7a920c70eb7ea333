package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// chunksToSplit returns the chunks that the arguments name.
func (d *draftBuilder) chunksToSplit(c *topology.Collection) ([]*hotChunk, error) {
	a := d.a
	one := a.Chunk != "" || a.Bounds[0] != nil || a.Bounds[1] != nil
	switch {
	case !one && len(a.Chunks) == 0:
		return nil, missing(SplitHot, "chunk", "the reference of a chunk, its exact bounds as \"bounds\", or several references as \"chunks\"")
	case one && len(a.Chunks) > 0:
		return nil, fault.New(fault.Invalid,
			"The arguments \"chunks\" and \"chunk\" or \"bounds\" do not go together: name one chunk or several.")
	case len(a.Chunks) > maxHotChunks:
		return nil, fault.New(fault.Invalid,
			"The argument \"chunks\" names %d chunks; one plan splits %d at most.", len(a.Chunks), maxHotChunks)
	case len(a.Chunks) > 1 && a.At != nil:
		return nil, fault.New(fault.Invalid, "The argument \"at\" is one key, for one chunk; \"chunks\" names %d.", len(a.Chunks))
	}
	var hot []*hotChunk
	add := func(ch topology.Chunk) { hot = append(hot, &hotChunk{lo: ch.Min, hi: ch.Max}) }
	if one {
		ch, err := d.s.chunkOf(c, SplitHot, a)
		if err != nil {
			return nil, err
		}
		add(ch)
		d.nameByBounds(c, ch)
	}
	for i, ref := range a.Chunks {
		ch, err := chunkByReference(c, ref)
		if err != nil {
			return nil, fault.Wrap(fault.Of(err), err, "The argument \"chunks\", number %d: %s", i+1, fault.Text(err))
		}
		if slices.ContainsFunc(hot, func(h *hotChunk) bool { return h.lo.Compare(ch.Min) == 0 }) {
			return nil, fault.New(fault.Invalid, "The argument \"chunks\" names a chunk twice: number %d.", i+1)
		}
		add(ch)
	}
	if a.At != nil {
		at, err := d.s.completeKey(c, "at", a.At)
		if err != nil {
			return nil, err
		}
		if h := hot[0]; at.Compare(h.lo) <= 0 || at.Compare(h.hi) >= 0 {
			return nil, fault.New(fault.Invalid,
				"The key of the argument \"at\" is not inside the chunk: it must be above its lower bound and below its upper one.")
		}
		hot[0].at, hot[0].given = at, true
	}
	return hot, nil
}

// chunksOfCuts returns the chunks of the argument cuts, with all choices made. The chunks
// need not be as they were, because part of the work may be done.
func (d *draftBuilder) chunksOfCuts(c *topology.Collection) ([]*hotChunk, error) {
	a := d.a
	for _, x := range Arguments() {
		if x.Given(a) && x.Name != "ns" && x.Name != "cuts" {
			return nil, fault.New(fault.Invalid, "The argument \"cuts\" is complete; %q cannot be given with it.", x.Name)
		}
	}
	if len(a.Cuts) > maxHotChunks {
		return nil, fault.New(fault.Invalid, "The argument \"cuts\" has %d chunks; one plan splits %d at most.", len(a.Cuts), maxHotChunks)
	}
	var hot []*hotChunk
	for i, cut := range a.Cuts {
		wrong := func(err error) error {
			return fault.Wrap(fault.Of(err), err, "The argument \"cuts\", number %d: %s", i+1, fault.Text(err))
		}
		h := &hotChunk{half: cut.Half, to: cut.To, given: true, pieces: cut.Pieces}
		var err error
		if h.lo, h.hi, err = d.s.rangeBounds(c, SplitHot, [2]bson.Raw{cut.Min, cut.Max}); err != nil {
			return nil, wrong(err)
		}
		if cut.At == nil {
			return nil, wrong(missing(SplitHot, "at", "the shard key to split at"))
		}
		if h.at, err = d.s.completeKey(c, "at", cut.At); err != nil {
			return nil, wrong(err)
		}
		if h.at.Compare(h.lo) <= 0 || h.at.Compare(h.hi) >= 0 {
			return nil, wrong(fault.New(fault.Invalid, "the key of \"at\" is not between \"min\" and \"max\"."))
		}
		if h.half != HalfLower && h.half != HalfUpper {
			return nil, wrong(fault.New(fault.Invalid, "\"half\" is %q; it is %q or %q.", h.half, HalfLower, HalfUpper))
		}
		if err := checkShard(d.s.Table, SplitHot, "to", h.to); err != nil {
			return nil, wrong(err)
		}
		if h.pieces != 0 && (h.pieces < 2 || h.pieces > maxPieces) {
			return nil, wrong(fault.New(fault.Invalid, "\"pieces\" is %d; it is 2 to %d.", h.pieces, maxPieces))
		}
		r := shardkey.Range{Min: h.lo, Max: h.hi}
		if slices.ContainsFunc(hot, func(o *hotChunk) bool { return r.Overlaps(shardkey.Range{Min: o.lo, Max: o.hi}) }) {
			return nil, wrong(fault.New(fault.Invalid, "it overlaps one before it."))
		}
		hot = append(hot, h)
	}
	return hot, nil
}

// storeCuts puts the choices into the arguments, unless there are none.
func (d *draftBuilder) storeCuts(c *topology.Collection, hot []*hotChunk) {
	if len(hot) == 0 {
		return
	}
	d.a = Args{NS: c.NS}
	for _, h := range hot {
		d.a.Cuts = append(d.a.Cuts, Cut{Min: d.doc(c, h.lo), Max: d.doc(c, h.hi), At: d.doc(c, h.at), Half: h.half, To: h.to,
			Pieces: h.pieces})
	}
}
