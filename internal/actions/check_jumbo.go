package actions

import (
	"cmp"

	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// checkJumbo blocks the move of a chunk that is flagged as jumbo, which means that the
// balancer has failed to move it. A forced move succeeds; writes to the chunk wait during
// it, and the chunk keeps the flag.
func (d *draftBuilder) checkJumbo() (out findings) {
	for _, m := range d.moves {
		if !m.jumbo {
			continue
		}
		if d.a.Force {
			out.warn("jumbo", d.fromFlags(), message.New("jumbo.forced",
				"A jumbo chunk of {ns} is moved by force: writes to it wait during the move, and it keeps its flag. "+
					"Clear the flag afterwards.",
				message.Namespace("ns", m.k.c.NS)))
			return out
		}
		text := message.New("jumbo.flagged",
			"The chunk of {ns} at {min} is flagged as jumbo: it was too big to move. "+
				"Split it (if it has one value of the shard key: {remedy}), clear the flag, or force the move.",
			message.Namespace("ns", m.k.c.NS), message.Key("min", m.k.c.Key.Display(m.lo)), message.Words("remedy", d.remedy()))
		if m.awaited {
			text.Code = "jumbo.skipped"
			text.Pattern = "The chunk of {ns} at {min} is flagged as jumbo, so the balancer does not move it. " +
				"Split it (if it has one value of the shard key: {remedy}) or clear the flag."
		}
		out.block("jumbo", d.fromFlags(), text)
		return out
	}
	out.check(d.noFlagCheck())
	return out
}

// noFlagCheck says that no moved chunk is flagged, or that the flags could not be read.
func (d *draftBuilder) noFlagCheck() Check {
	c := Check{ID: "jumbo", Verdict: Pass, Text: message.New("jumbo.none",
		"No chunk that moves is flagged as jumbo."), Source: d.fromFlags()}
	if d.s.Flags.At.IsZero() {
		reason := cmp.Or(d.s.Flags.Reason, reasonNotLoaded)
		c.Verdict, c.Text = Warn, message.New("jumbo.unread",
			"No chunk that moves was flagged as jumbo when flags were last read, but they could not be read for "+
				"this plan: {reason}. Each is read again before its command.",
			message.Coded("reason", reason, topology.ReasonText(reason)))
	}
	return c
}

// fromFlags is the source of an answer that comes from jumbo flags.
func (d *draftBuilder) fromFlags() message.Message {
	if d.s.Flags.At.IsZero() {
		return message.New("sweep",
			"The chunk table; its jumbo flags are read about once a minute")
	}
	return message.New("cluster",
		"Read from the cluster at {at}", message.Time("at", d.s.Flags.At))
}

// dependsOnFlags records that the draft depends on the jumbo flags of a range.
func (d *findings) dependsOnFlags(c *topology.Collection, lo, hi shardkey.Key) {
	d.needs.Flags = append(d.needs.Flags, Span{NS: c.NS, Min: lo, Max: hi})
}
