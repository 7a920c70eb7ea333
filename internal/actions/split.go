package actions

import (
	"shardboard/internal/fault"
	"shardboard/internal/message"
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
	return d.finish(message.New("split.median",
		"Split the chunk {min} → {max} of {ns} on {shard} in the middle of its documents.", chunkFacts(c, ch)...), d.undoSplit(c, ch))
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
	return d.finish(message.New("split.at", "Split the chunk {min} → {max} of {ns} on {shard} at {at}.",
		append(chunkFacts(c, ch), message.Key("at", c.Key.Display(at)))...), d.undoSplit(c, ch))
}

// splitParts cuts a chunk into equal parts, where it can be said where: hashes
// are spread evenly, and of projects it is known which there are.
func (d *draftBuilder) splitParts(c *topology.Collection, ch topology.Chunk) (Draft, Args, error) {
	points, why := d.points(c, shardkey.Range{Min: ch.Min, Max: ch.Max}, d.a.Parts)
	d.checkWhole(c, ch)
	if why.Code != "" {
		d.block("parts", d.fromTable(topology.PartRouting), why)
	}
	k := d.future(c)
	for _, at := range points {
		d.splitAt(k, at)
	}
	return d.finish(message.New("split.parts",
		"Split the chunk {min} → {max} of {ns} on {shard} into {parts} equal parts.",
		append(chunkFacts(c, ch), message.Count("parts", d.a.Parts))...), d.undoSplit(c, ch))
}

// undoSplit joins what was one chunk.
func (d *draftBuilder) undoSplit(c *topology.Collection, ch topology.Chunk) Undo {
	return Undo{Possible: true, Text: message.New("split", "The chunk is merged again.", chunkFacts(c, ch)...),
		Kind: Merge, Args: Args{NS: c.NS, Bounds: d.bounds(c, ch.Min, ch.Max)}}
}

// resolved writes a chunk's bounds into the arguments.
func (d *draftBuilder) resolved(c *topology.Collection, ch topology.Chunk) {
	d.a.Chunk, d.a.Bounds = "", d.bounds(c, ch.Min, ch.Max)
}

// chunkFacts name a chunk in a sentence.
func chunkFacts(c *topology.Collection, ch topology.Chunk) []message.Fact {
	return []message.Fact{message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(ch.Min)), message.Key("max", c.Key.Display(ch.Max)),
		message.Shard("shard", ch.Shard)}
}
