package actions

import (
	"math/big"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkWhole: can this chunk be cut in its middle at all? One that has a single
// value of the shard key can't, ever.
func (d *draftBuilder) checkWhole(c *topology.Collection, ch topology.Chunk) {
	r := shardkey.Range{Min: ch.Min, Max: ch.Max}
	if d.singleValue(c, r) {
		d.check(Check{ID: "unsplittable", Verdict: Block, Text: say("unsplittable.oneValue", "key", c.Key.String(), "remedy", d.remedy()), Source: d.fromTable(topology.PartRouting)})
		return
	}
	d.look(c, ch.Min, ch.Max)
	ids, known := d.projectsIn(c, r)
	switch {
	case known && c.Key.Len() == 1 && len(ids) == 1 && d.a.Parts <= 2:
		d.check(Check{ID: "unsplittable", Verdict: Block, Text: say("unsplittable.oneProject", "project", ids[0].Hex(), "key", c.Key.String(), "remedy", d.remedy()), Source: say("projects")})
	case known && c.Key.Len() == 1 && len(ids) == 0 && d.a.Parts <= 2:
		d.check(Check{ID: "unsplittable", Verdict: Warn, Text: say("unsplittable.noProject"), Source: say("projects")})
	case ch.Jumbo:
		d.check(Check{ID: "unsplittable", Verdict: Warn, Text: say("unsplittable.jumbo", "remedy", d.remedy()), Source: d.fromFlags()})
	default:
		d.check(Check{ID: "unsplittable", Verdict: Pass, Text: say("unsplittable.values", "key", c.Key.String()), Source: d.fromTable(topology.PartRouting)})
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
		return "refineOrReshard"
	case d.s.Release.AtLeast(4, 4, 0):
		return "refine"
	}
	return "none"
}

// checkJumbo: the flag says that the balancer tried and failed. Forced, the
// chunk moves and keeps the flag, and writes to it wait meanwhile.
func (d *draftBuilder) checkJumbo() {
	for _, m := range d.moves {
		if !m.jumbo {
			continue
		}
		if d.a.Force {
			d.check(Check{ID: "jumbo", Verdict: Warn, Text: say("jumbo.forced", "ns", string(m.k.c.NS)), Source: d.fromFlags()})
			return
		}
		code := "jumbo.flagged"
		if m.awaited {
			code = "jumbo.skipped"
		}
		d.check(Check{ID: "jumbo", Verdict: Block, Text: say(code, "ns", string(m.k.c.NS), "min", m.k.c.Key.Display(m.lo), "remedy", d.remedy()), Source: d.fromFlags()})
		return
	}
	d.check(d.unflagged())
}
