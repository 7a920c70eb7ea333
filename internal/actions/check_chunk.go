package actions

import (
	"math/big"

	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkWhole: can this chunk be cut in its middle at all? One that has a single
// value of the shard key can't, ever.
func (d *draftBuilder) checkWhole(c *topology.Collection, ch topology.Chunk) {
	r := shardkey.Range{Min: ch.Min, Max: ch.Max}
	if d.singleValue(c, r) {
		d.block("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.oneValue",
			"All rows of this chunk have one value of {key}, and a chunk cannot be split inside a value: "+
				"{remedy}.",
			message.Text("key", c.Key.String()), message.Words("remedy", d.remedy())))
		return
	}
	d.look(c, ch.Min, ch.Max)
	ids, known := d.projectsIn(c, r)
	switch {
	case known && c.Key.Len() == 1 && len(ids) == 1 && d.a.Parts <= 2:
		d.block("unsplittable", message.New("projects", "The list of projects"), message.New("unsplittable.oneProject",
			"The chunk holds only the project {project}, which is one value of {key}, and a chunk cannot be "+
				"split inside a value: {remedy}.",
			message.Project("project", ids[0].Hex(), ""), message.Text("key", c.Key.String()),
			message.Words("remedy", d.remedy())))
	case known && c.Key.Len() == 1 && len(ids) == 0 && d.a.Parts <= 2:
		d.warn("unsplittable", message.New("projects", "The list of projects"), message.New("unsplittable.noProject",
			"No known project is in this chunk: it may be empty, and then it cannot be split in the middle. "+
				"Split at a key instead."))
	case ch.Jumbo:
		d.warn("unsplittable", d.fromFlags(), message.New("unsplittable.jumbo",
			"The chunk is flagged as jumbo: it may be impossible to split. In that case: {remedy}.",
			message.Words("remedy", d.remedy())))
	default:
		d.pass("unsplittable", d.fromTable(topology.PartRouting), message.New("unsplittable.values",
			"The chunk has several values of {key}: it can be split between them.",
			message.Text("key", c.Key.String())))
	}
}

// singleValue tells whether a range has room for one value at most.
func (d *draftBuilder) singleValue(c *topology.Collection, r shardkey.Range) bool {
	if hashedLast(c.Key) {
		if _, lo, hi, ok := hashSpan(c.Key, r); ok {
			return hi.Sub(hi, lo).Cmp(big.NewInt(1)) <= 0
		}
	}
	if c.Key.Len() != 1 {
		return false
	}
	a, errA := c.Key.Values(r.Min)
	b, errB := c.Key.Values(r.Max)
	if errA != nil || errB != nil {
		return false
	}
	id, ok := a[0].ObjectIDOK()
	next, more := nextID(id)
	after, is := b[0].ObjectIDOK()
	return ok && more && is && after == next
}

// remedy is what makes a chunk of one shard-key value divisible, by release.
func (d *draftBuilder) remedy() string {
	switch {
	case d.s.Release.AtLeast(5, 0, 0):
		return "refine the shard key by another field (refineCollectionShardKey), or reshard the collection by another key"
	case d.s.Release.AtLeast(4, 4, 0):
		return "refine the shard key by another field (refineCollectionShardKey)"
	}
	return "no command of this release changes a shard key"
}

// checkJumbo: the flag says that the balancer tried and failed. Forced, the
// chunk moves and keeps the flag, and writes to it wait meanwhile.
func (d *draftBuilder) checkJumbo() {
	for _, m := range d.moves {
		if !m.jumbo {
			continue
		}
		if d.a.Force {
			d.warn("jumbo", d.fromFlags(), message.New("jumbo.forced",
				"A jumbo chunk of {ns} is moved by force: writes to it wait during the move, and it keeps its flag. "+
					"Clear the flag afterwards.",
				message.Namespace("ns", m.k.c.NS)))
			return
		}
		text := message.New("jumbo.flagged",
			"The chunk of {ns} at {min} is flagged as jumbo: it was too big to move. "+
				"Split it ({remedy}), clear the flag, or force the move.",
			message.Namespace("ns", m.k.c.NS), message.Key("min", m.k.c.Key.Display(m.lo)), message.Words("remedy", d.remedy()))
		if m.awaited {
			text.Code = "jumbo.skipped"
			text.Pattern = "The chunk of {ns} at {min} is flagged as jumbo, so the balancer does not move it. " +
				"Split it ({remedy}) or clear the flag."
		}
		d.block("jumbo", d.fromFlags(), text)
		return
	}
	d.check(d.unflagged())
}
