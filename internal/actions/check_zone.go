package actions

import (
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkMovesNothing says that removing zones or ranges moves no data by itself.
func (d *draftBuilder) checkMovesNothing() (out findings) {
	out.pass("consequence", d.fromRule(), message.New("consequence.unpin",
		"This alone moves nothing. The balancer may move chunks later, if a shard has too much data."))
	return out
}

// checkConsequence says what the balancer will split and move because of a zone's new
// ranges. It has no threshold for zones: it moves every chunk that is outside of its
// zone.
func (d *draftBuilder) checkConsequence(zone string, ranges []topology.ZoneRange) (out findings) {
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
			if !d.isInZone(ch.Shard, z.Zone) {
				chunks++
				bytes = append(bytes, d.estimate(c, shardkey.Later(z.Min, ch.Min), shardkey.Earlier(z.Max, ch.Max), bytesOf))
			}
		}
	}
	if straddled == 0 && chunks == 0 {
		out.pass("consequence", d.fromRule(), message.New("consequence.none",
			"All data is already in its zone: the balancer has nothing to move."))
		return out
	}
	what := message.Plural(chunks, "1 chunk", "{chunks} chunks")
	text := message.New("consequence.moves", "The balancer will move "+what, message.Count("chunks", chunks),
		message.Count("straddled", straddled))
	if b := d.s.Table.Balancer; b.Known && !b.Enabled() {
		text.Code, text.Pattern = "consequence.movesWhenOn", "When the balancer is turned on, it will move "+what
	}
	sum := sumOf(bytes...)
	if sum.Known {
		text = text.With(message.Bytes("bytes", sum.Value))
		text.Pattern += ", about {bytes}, and split {straddled}."
	} else {
		text.Code += "Unknown"
		text.Pattern += " of unknown size, and split {straddled}."
	}
	out.warn("consequence", d.fromRule(), text)
	if chunks > 0 {
		out.add(d.checkZoneDiskSpace(zone, sum))
	}
	return out
}

// checkPrefix blocks when a range is stored with fewer fields than the shard key has. No
// command can remove such a range: the server completes the bounds of the command,
// and then finds no range with these bounds.
func (d *draftBuilder) checkPrefix(z topology.ZoneRange) (out findings) {
	c := d.s.Table.Collection(z.NS)
	if c == nil {
		return out
	}
	for _, raw := range [][]byte{z.RawMin, z.RawMax} {
		if _, err := c.Key.Bound(raw); err != nil {
			out.block("zone", d.fromRule(), message.New("zone.prefix",
				"The range of the zone {zone} in {ns} is stored with fewer fields than the shard key has. No "+
					"command can remove it; delete it from config.tags by hand.",
				message.Namespace("ns", z.NS), message.Zone("zone", z.Zone)))
			return out
		}
	}
	return out
}
