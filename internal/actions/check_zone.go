package actions

import (
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkConsequence: what the balancer will cut and move because of a zone's
// ranges as they will be. There is no threshold: every chunk outside of its zone
// moves.
func (d *draftBuilder) checkConsequence(zone string, ranges []topology.ZoneRange) {
	straddled, chunks := 0, 0
	var bytes []topology.Figure
	for _, z := range ranges {
		c := d.s.Table.Collection(z.NS)
		if c == nil || c.Chunks.Len() == 0 || z.Min.IsZero() {
			continue
		}
		from, to := c.Chunks.Overlap(shardkey.Range{Min: z.Min, Max: z.Max})
		for _, ch := range c.Chunks.Range(from, to) {
			if ch.Min.Compare(z.Min) < 0 || ch.Max.Compare(z.Max) > 0 {
				straddled++
			}
			if !d.carries(ch.Shard, z.Zone) {
				chunks++
				bytes = append(bytes, d.estimate(c, later(z.Min, ch.Min), earlier(z.Max, ch.Max), bytesOf))
			}
		}
	}
	if straddled == 0 && chunks == 0 {
		d.check(Check{ID: "consequence", Verdict: Pass, Text: say("consequence.none"), Source: d.fromRule()})
		return
	}
	code := "consequence.moves"
	if b := d.s.Table.Balancer; b.Known && !b.Enabled() {
		code = "consequence.movesWhenOn"
	}
	args := []string{"chunks", count(chunks), "straddled", count(straddled)}
	sum := sumOf(bytes...)
	if sum.Known {
		args = append(args, "bytes", number(sum.Value))
	} else {
		code += "Unknown"
	}
	d.check(Check{ID: "consequence", Verdict: Warn, Text: say(code, args...), Source: d.fromRule()})
	if chunks > 0 {
		d.checkZoneRoom(zone, sum)
	}
}

// checkPrefix: a range that was stored with fewer fields than the key has can't
// be removed by command: the server completes the bounds that it is given, and
// then finds no such range.
func (d *draftBuilder) checkPrefix(z topology.ZoneRange) {
	c := d.s.Table.Collection(z.NS)
	if c == nil {
		return
	}
	for _, raw := range [][]byte{z.RawMin, z.RawMax} {
		if _, err := c.Key.Bound(raw); err != nil {
			d.check(Check{ID: "zone", Verdict: Block, Text: say("zone.prefix", "ns", string(z.NS), "zone", z.Zone), Source: d.fromRule()})
			return
		}
	}
}
