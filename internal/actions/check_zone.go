package actions

import (
	"shardboard/internal/message"
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
		d.pass("consequence", d.fromRule(), message.New("consequence.none",
			"All data is already in its zone: the balancer has nothing to move."))
		return
	}
	text := message.New("consequence.moves", "The balancer will move {chunks} chunks", message.Count("chunks", chunks),
		message.Count("straddled", straddled))
	if b := d.s.Table.Balancer; b.Known && !b.Enabled() {
		text.Code, text.Pattern = "consequence.movesWhenOn", "When the balancer is turned on, it will move {chunks} chunks"
	}
	sum := sumOf(bytes...)
	if sum.Known {
		text = text.With(message.Bytes("bytes", sum.Value))
		text.Pattern += ", about {bytes}, and split {straddled}."
	} else {
		text.Code += "Unknown"
		text.Pattern += " of unknown size, and split {straddled}."
	}
	d.warn("consequence", d.fromRule(), text)
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
			d.block("zone", d.fromRule(), message.New("zone.prefix",
				"The range of the zone {zone} in {ns} is stored with fewer fields than the shard key has. No "+
					"command removes such a range; it has to be deleted in config.tags.",
				message.Namespace("ns", z.NS), message.Zone("zone", z.Zone)))
			return
		}
	}
}
