package actions

import "shardboard/internal/topology"

// planClearJumbo takes the jumbo flag from a chunk. Takes ns and chunk or bounds.
func planClearJumbo(s Situation, a Args) (Draft, Args, error) {
	if err := a.only(ClearJumbo, "ns", "chunk", "bounds"); err != nil {
		return Draft{}, a, err
	}
	c, err := collectionOf(s.Table, ClearJumbo, a.NS)
	if err != nil {
		return Draft{}, a, err
	}
	_, ch, err := s.chunkOf(c, ClearJumbo, a)
	if err != nil {
		return Draft{}, a, err
	}
	d := newDraft(s, ClearJumbo, a)
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
