package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ClearJumbo clears the jumbo flag of a chunk.
const ClearJumbo Kind = "clear-jumbo"

func describeClearJumbo() Description {
	return Description{
		Kind:      ClearJumbo,
		AnyTime:   true,
		Title:     "Clear a jumbo flag",
		Lead:      "After that, the balancer tries again to move the chunk.",
		Proof:     "The chunk has no jumbo flag.",
		Undo:      "Cannot be undone: only the balancer sets the flag.",
		Arguments: []Argument{argNS.needed(), argChunk, argBounds},
		InBatches: true,
		Sends:     []operation.Op{operation.OpClearJumbo},
		plan:      planClearJumbo,
	}
}

func planClearJumbo(d *draftBuilder) (Draft, Args, error) {
	s, a, c := d.s, d.a, d.c
	ch, err := s.chunkOf(c, ClearJumbo, a)
	if err != nil {
		return Draft{}, a, err
	}
	d.nameByBounds(c, ch)
	d.dependsOnFlags(c, ch.Min, ch.Max)
	if !ch.Jumbo {
		d.block("jumbo", d.fromFlags(), message.New("jumbo.notFlagged",
			"The chunk is not flagged as jumbo."))
	} else {
		d.clearJumbo(d.future(c), d.future(c).at(ch.Min))
		d.add(d.checkFlaggedAgain(c, ch))
	}
	return d.finish(message.New("clear-jumbo",
		"Clear the jumbo flag of the chunk {min} → {max} of {ns} on {shard}.", chunkFacts(c, ch)...),
		Undo{Text: message.New("clear-jumbo",
			"Cannot be undone: no command sets the flag. The balancer sets it when it fails to move the chunk.")})
}

// checkFlaggedAgain warns about a chunk that is still too big: the balancer will flag it
// again when it fails to move it.
func (d *draftBuilder) checkFlaggedAgain(c *topology.Collection, ch topology.Chunk) (out findings) {
	facts, tooBig, known := d.tooBigAt(c, ch.Shard, ch.Min, ch.Max)
	flag := Check{ID: "size", Verdict: Pass, Text: sizeFitsText(), Source: d.fromTable(topology.PartSizes)}
	switch {
	case !known:
		flag.Verdict, flag.Text = Warn, sizeUnknownText(c.NS)
	case tooBig:
		flag.Verdict, flag.Text = Warn, message.New("size.again",
			"The chunk may have {bytes}, and more than {limit} cannot be moved: the balancer will flag it again. Split it ({remedy}).",
			facts...)
	}
	out.check(flag)
	return out
}
