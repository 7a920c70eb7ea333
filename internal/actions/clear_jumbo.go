package actions

import "shardboard/internal/topology"

// ClearJumbo takes the jumbo flag from a chunk.
const ClearJumbo Kind = "clear-jumbo"

func describeClearJumbo() Description {
	return Description{
		Kind:      ClearJumbo,
		Title:     "Clear a jumbo flag",
		Lead:      "The balancer tries again to move the chunk.",
		Proof:     "The chunk has no jumbo flag.",
		Undo:      "Nothing: only the balancer sets the flag.",
		Arguments: []Argument{argNS.needed(), argChunk, argBounds},
		plan:      planClearJumbo,
	}
}

func planClearJumbo(d *draftBuilder) (Draft, Args, error) {
	s, a, c := d.s, d.a, d.c
	_, ch, err := s.chunkOf(c, ClearJumbo, a)
	if err != nil {
		return Draft{}, a, err
	}
	d.resolved(c, ch)
	d.look(c, ch.Min, ch.Max)
	if !ch.Jumbo {
		d.check(Check{ID: "jumbo", Verdict: Block, Text: say("jumbo.notFlagged"), Source: d.fromFlags()})
	} else {
		d.clearJumbo(d.future(c), d.future(c).at(ch.Min))
		d.checkAgain(c, ch)
	}
	return d.finish(say("clear-jumbo", d.naming(c, ch)...), Undo{Text: say("clear-jumbo")})
}

// checkAgain: a chunk that is still too big is flagged again when the balancer
// next fails to move it.
func (d *draftBuilder) checkAgain(c *topology.Collection, ch topology.Chunk) {
	args, tooBig, known := d.tooBigAt(c, ch.Shard, ch.Min, ch.Max)
	out := Check{ID: "size", Verdict: Pass, Text: say("size.fits"), Source: d.fromTable(topology.PartSizes)}
	switch {
	case !known:
		out.Verdict, out.Text = Warn, say("size.unknown", "ns", string(c.NS))
	case tooBig:
		out.Verdict, out.Text = Warn, say("size.again", args...)
	}
	d.check(out)
}
