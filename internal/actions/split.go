package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// maxParts is the highest number of parts of one plan; each split is a command.
const maxParts = 64

// Split splits one chunk: at a key, in the middle of its documents, or into equal
// parts.
const Split Kind = "split"

func describeSplit() Description {
	return Description{
		Kind:      Split,
		AnyTime:   true,
		Title:     "Split a chunk",
		Lead:      "At a key, into equal parts, or, if both are left empty, in the middle of its documents. No data moves.",
		Proof:     "A chunk begins at each new bound.",
		Undo:      "Merges the parts.",
		Arguments: []Argument{argNS.needed(), argAt, argParts, argChunk, argBounds},
		InBatches: true,
		Sends:     []operation.Op{operation.OpSplitAt, operation.OpSplitMedian},
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
			"split needs the argument \"at\", a key, or \"chunk\" or \"bounds\", a chunk to split in the middle.")
	}
	ch, err := s.chunkOf(c, Split, a)
	if err != nil {
		return Draft{}, a, err
	}
	d.nameByBounds(c, ch)
	if a.Parts > 2 || a.Parts == 2 && hashedLast(c.Key) {
		return d.splitParts(c, ch)
	}
	k := d.future(c)
	d.add(d.checkSplittable(c, ch))
	d.splitMedian(k, k.at(ch.Min))
	return d.finish(message.New("split.median",
		"Split the chunk {min} → {max} of {ns} on {shard} in the middle of its documents.", chunkFacts(c, ch)...), d.undoSplit(c, ch))
}

// splitKey plans to split the chunk that contains the key.
func (d *draftBuilder) splitKey(c *topology.Collection) (Draft, Args, error) {
	at, err := d.s.completeKey(c, "at", d.a.At)
	if err != nil {
		return Draft{}, d.a, err
	}
	_, ch := c.Chunks.Find(at)
	if ch.Min.Compare(at) == 0 {
		return Draft{}, d.a, fault.New(fault.Invalid,
			"A chunk of %s already begins at the key of the argument \"at\": there is nothing to split.", string(c.NS))
	}
	if ch.Max.Compare(at) == 0 { // only the upper end of the key space
		return Draft{}, d.a, fault.New(fault.Invalid,
			"The key of the argument \"at\" is the end of the key space: there is nothing to split.")
	}
	if d.a.Chunk != "" || d.a.Bounds[0] != nil || d.a.Bounds[1] != nil {
		named, err := d.s.chunkOf(c, Split, d.a)
		if err != nil {
			return Draft{}, d.a, err
		}
		if named.Min.Compare(ch.Min) != 0 {
			return Draft{}, d.a, fault.New(fault.Invalid, "The key of the argument \"at\" is not inside the named chunk.")
		}
	}
	d.nameByBounds(c, ch)
	d.splitAt(d.future(c), at)
	return d.finish(message.New("split.at", "Split the chunk {min} → {max} of {ns} on {shard} at {at}.",
		append(chunkFacts(c, ch), message.Key("at", c.Key.Display(at)))...), d.undoSplit(c, ch))
}

// splitParts plans to split a chunk into equal parts. That is possible for hashed keys,
// whose values are spread evenly, and for known projects.
func (d *draftBuilder) splitParts(c *topology.Collection, ch topology.Chunk) (Draft, Args, error) {
	points, problem := d.equalParts(c, shardkey.Range{Min: ch.Min, Max: ch.Max}, d.a.Parts)
	d.add(d.checkSplittable(c, ch))
	if problem.Code != "" {
		d.block("parts", d.fromTable(topology.PartRouting), problem)
	}
	k := d.future(c)
	for _, at := range points {
		d.splitAt(k, at)
	}
	return d.finish(message.New("split.parts",
		"Split the chunk {min} → {max} of {ns} on {shard} into {parts} equal parts.",
		append(chunkFacts(c, ch), message.Count("parts", d.a.Parts))...), d.undoSplit(c, ch))
}

// undoSplit merges the parts of the chunk.
func (d *draftBuilder) undoSplit(c *topology.Collection, ch topology.Chunk) Undo {
	return Undo{Possible: true, Text: message.New("split", "Merges the parts into one chunk again.", chunkFacts(c, ch)...),
		Kind: Merge, Args: Args{NS: c.NS, Bounds: d.boundsAsDocuments(c, ch.Min, ch.Max)}}
}

// nameByBounds replaces a chunk's reference in the arguments by its bounds.
func (d *draftBuilder) nameByBounds(c *topology.Collection, ch topology.Chunk) {
	d.a.Chunk, d.a.Bounds = "", d.boundsAsDocuments(c, ch.Min, ch.Max)
}

// chunkFacts names a chunk in a sentence.
func chunkFacts(c *topology.Collection, ch topology.Chunk) []message.Fact {
	return []message.Fact{message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(ch.Min)), message.Key("max", c.Key.Display(ch.Max)),
		message.Shard("shard", ch.Shard)}
}
