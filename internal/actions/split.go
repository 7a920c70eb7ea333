package actions

import (
	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// maxParts bounds the parts of one split: every cut is a command of its own.
const maxParts = 64

// Split cuts one chunk: at a key, in the middle of its documents, or into equal
// parts.
const Split Kind = "split"

func describeSplit() Description {
	return Description{
		Kind:      Split,
		Title:     "Split a chunk",
		Lead:      "At a key, into equal parts, or in the middle of its documents when both are left empty. No data moves.",
		Proof:     "A chunk begins at each new bound.",
		Undo:      "Merging the parts.",
		Arguments: []Argument{argNS.needed(), argAt, argParts, argChunk, argBounds},
		plan:      planSplit,
	}
}

func planSplit(d *draftBuilder) (Draft, Args, error) {
	s, a, c := d.s, d.a, d.c
	if a.Parts != 0 && a.At != nil {
		return Draft{}, a, fault.New(fault.Invalid, "The arguments \"at\" and \"parts\" do not go together: one key makes two parts.")
	}
	if a.At != nil {
		return d.splitKey(c)
	}
	if a.Chunk == "" && a.Bounds[0] == nil && a.Bounds[1] == nil {
		return Draft{}, a, fault.New(fault.Invalid,
			"split needs to know where: the argument \"at\", a key, or \"chunk\" or \"bounds\", a chunk to cut in the middle.")
	}
	_, ch, err := s.chunkOf(c, Split, a)
	if err != nil {
		return Draft{}, a, err
	}
	d.resolved(c, ch)
	if a.Parts > 2 || a.Parts == 2 && hashedLast(c.Key) {
		return d.splitParts(c, ch)
	}
	k := d.future(c)
	d.checkWhole(c, ch)
	d.splitMedian(k, k.at(ch.Min))
	return d.finish(say("split.median", d.naming(c, ch)...), d.undoSplit(c, ch))
}

// splitKey cuts the chunk that has the key inside it.
func (d *draftBuilder) splitKey(c *topology.Collection) (Draft, Args, error) {
	at, err := d.s.bound(c, "at", d.a.At)
	if err != nil {
		return Draft{}, d.a, err
	}
	_, ch := c.Chunks.Find(at)
	if ch.Min.Compare(at) == 0 {
		return Draft{}, d.a, fault.New(fault.Invalid,
			"A chunk of %s begins at the key of the argument \"at\" already: there is nothing to cut.", string(c.NS))
	}
	if ch.Max.Compare(at) == 0 { // only the upper end of the key space
		return Draft{}, d.a, fault.New(fault.Invalid,
			"The key of the argument \"at\" is the end of the key space: there is nothing to cut.")
	}
	if d.a.Chunk != "" || d.a.Bounds[0] != nil || d.a.Bounds[1] != nil {
		_, named, err := d.s.chunkOf(c, Split, d.a)
		if err != nil {
			return Draft{}, d.a, err
		}
		if named.Min.Compare(ch.Min) != 0 {
			return Draft{}, d.a, fault.New(fault.Invalid, "The key of the argument \"at\" is not inside the chunk that is named.")
		}
	}
	d.resolved(c, ch)
	d.splitAt(d.future(c), at)
	return d.finish(say("split.at", append(d.naming(c, ch), "at", c.Key.Display(at))...), d.undoSplit(c, ch))
}

// splitParts cuts a chunk into equal parts, where it can be said where: hashes
// are spread evenly, and of projects it is known which there are.
func (d *draftBuilder) splitParts(c *topology.Collection, ch topology.Chunk) (Draft, Args, error) {
	points, why := d.points(c, shardkey.Range{Min: ch.Min, Max: ch.Max}, d.a.Parts)
	d.checkWhole(c, ch)
	if why.Code != "" {
		d.check(Check{ID: "parts", Verdict: Block, Text: why, Source: d.fromTable(topology.PartRouting)})
	}
	k := d.future(c)
	for _, at := range points {
		d.splitAt(k, at)
	}
	return d.finish(say("split.parts", append(d.naming(c, ch), "parts", count(d.a.Parts))...), d.undoSplit(c, ch))
}

// undoSplit joins what was one chunk.
func (d *draftBuilder) undoSplit(c *topology.Collection, ch topology.Chunk) Undo {
	return Undo{Possible: true, Text: say("split", d.naming(c, ch)...), Kind: Merge, Args: Args{NS: c.NS, Bounds: d.bounds(c, ch.Min, ch.Max)}}
}

// resolved writes a chunk's bounds into the arguments.
func (d *draftBuilder) resolved(c *topology.Collection, ch topology.Chunk) {
	d.a.Chunk, d.a.Bounds = "", d.bounds(c, ch.Min, ch.Max)
}

// naming names a chunk in a sentence.
func (d *draftBuilder) naming(c *topology.Collection, ch topology.Chunk) []string {
	return []string{"ns", string(c.NS), "min", c.Key.Display(ch.Min), "max", c.Key.Display(ch.Max), "shard", ch.Shard}
}
