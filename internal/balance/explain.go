package balance

import (
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Explain returns the verdict of every rule of this release on the chunk at position i.
// The decision is Moves exactly when a round that begins with this table moves the
// chunk, or the part of it on one side of a zone boundary.
func (p *Plan) Explain(i int) Explanation {
	ch := p.c.Chunks.At(i)
	out := Explanation{Verdicts: p.collection()}
	out.add(p.jumbo(ch))
	var move *Move
	if m := slices.IndexFunc(p.moves, func(m Move) bool { return m.Chunk == i }); m >= 0 {
		move = &p.moves[m]
	}
	due, reasons := p.reasons(i, ch, move)
	out.add(reasons...)
	out.Due = due
	if due != "" && !ch.Jumbo {
		out.add(p.queue(i, ch, due, move)...)
	}
	out.Decision = decide(out.Verdicts)
	if out.Decision == Moves {
		out.Move = move
	}
	return out
}

func (e *Explanation) add(v ...Verdict) { e.Verdicts = append(e.Verdicts, v...) }

// collection has the verdicts that are the same for every chunk of the collection.
func (p *Plan) collection() []Verdict {
	out := []Verdict{p.balancer(), p.window()}
	if p.release.AtLeast(8, 0, 0) {
		out = append(out, unless(p.c.Unsplittable,
			verdict(RuleTracked, Pass, "sharded", "The collection is sharded."),
			verdict(RuleTracked, Blocks, "unsharded",
				"The collection is not sharded; the balancer leaves it where moveCollection put it.")))
	}
	out = append(out,
		unless(p.c.NoBalance,
			verdict(RuleNoBalance, Pass, "off", "Balancing is on for this collection."),
			verdict(RuleNoBalance, Blocks, "on", "Balancing is off for this collection (noBalance).")),
		unless(p.c.MigrationsBlocked,
			verdict(RuleMigrations, Pass, "allowed", "Moves of this collection are allowed."),
			verdict(RuleMigrations, Blocks, "blocked",
				"Moves of this collection are blocked (allowMigrations is false).")))
	if p.release.AtLeast(5, 0, 0) {
		out = append(out, unless(p.c.Resharding || p.c.Temporary,
			verdict(RuleResharding, Pass, "off", "The collection is not being resharded."),
			verdict(RuleResharding, Blocks, "on",
				"The collection is being resharded; its chunks stay until that ends.")))
	}
	return out
}

func unless(bad bool, pass, block Verdict) Verdict {
	if bad {
		return block
	}
	return pass
}

func (p *Plan) balancer() Verdict {
	b := p.s.Table.Balancer
	switch {
	case !b.Known:
		return verdict(RuleBalancer, Unknown, "unread", "The balancer's settings are not readable.")
	case b.Broken():
		return Verdict{Rule: RuleBalancer, Outcome: Blocks, Message: b.RefusedText()}
	case b.Stopped || b.Mode == "off":
		return verdict(RuleBalancer, Blocks, "off", "The balancer is off.")
	case b.Mode == "autoSplitOnly" && p.release.AutoSplits():
		return verdict(RuleBalancer, Blocks, "splitsOnly", "The balancer's mode is autoSplitOnly: it moves nothing.")
	case b.Mode != "full":
		return verdict(RuleBalancer, Blocks, "mode",
			"The balancer's mode is {mode}, not full: it moves nothing.", message.Text("mode", b.Mode))
	}
	return verdict(RuleBalancer, Pass, "on", "The balancer is on.")
}

// window includes both ends; a start after the stop wraps around midnight; the clock is
// the config server's (s/balancer_configuration.cpp).
func (p *Plan) window() Verdict {
	b := p.s.Table.Balancer
	when := message.Text("window", b.When())
	switch {
	case !b.Known:
		return verdict(RuleWindow, Unknown, "unread", "The balancer's settings are not readable.")
	case !b.Limited():
		return verdict(RuleWindow, Pass, "none", "No active window is set.")
	case p.s.Clock.IsZero():
		return verdict(RuleWindow, Unknown, "clock",
			"Chunks move only {window}, by the config server's local clock, which mongos does not report.", when)
	case b.OpenAt(p.s.Clock):
		return verdict(RuleWindow, Pass, "open", "The window {window} is open.", when)
	}
	return verdict(RuleWindow, Blocks, "closed", "The window {window} is closed.", when)
}

func (p *Plan) jumbo(ch topology.Chunk) Verdict {
	if ch.Jumbo {
		return verdict(RuleJumbo, Blocks, "flagged",
			"The chunk is flagged jumbo: it was too big to move, and the balancer skips it, even on a draining shard.")
	}
	return verdict(RuleJumbo, Pass, "none", "The chunk is not flagged jumbo.")
}

// zonesOf are the zones of the pieces of a chunk, in key order.
func (p *Plan) zonesOf(i int) (zones []string, cut bool) {
	if len(p.zones) == 0 {
		return []string{""}, false
	}
	zone, straddles := p.s.Table.ZoneOf(p.c, i)
	if !straddles {
		return []string{zone}, false
	}
	ch := p.c.Chunks.At(i)
	at := ch.Min
	for _, z := range p.zones {
		if z.Min.IsZero() || z.Max.Compare(ch.Min) <= 0 || z.Min.Compare(ch.Max) >= 0 {
			continue
		}
		if at.Compare(z.Min) < 0 {
			zones = append(zones, "")
		}
		zones, at = append(zones, z.Zone), z.Max
	}
	if at.Compare(ch.Max) < 0 {
		zones = append(zones, "")
	}
	return zones, true
}

// reasons evaluates the three rules that ask for moves. After the first one that asks,
// the later ones are not evaluated; if none asks, the last one blocks.
func (p *Plan) reasons(i int, ch topology.Chunk, move *Move) (due Reason, out []Verdict) {
	shard := p.s.Table.Shard(ch.Shard)
	if shard == nil {
		return "", []Verdict{verdict(RuleDraining, Unknown, "noShard",
			"{shard} is not in the list of shards.", message.Shard("shard", ch.Shard))}
	}
	if shard.Draining {
		due = Draining
		out = append(out, verdict(RuleDraining, Asks, "on",
			"{shard} is being drained: every chunk has to leave it.", message.Shard("shard", shard.Name)))
	} else {
		out = append(out, verdict(RuleDraining, Pass, "off",
			"{shard} is not being drained.", message.Shard("shard", shard.Name)))
	}
	zones, cut := p.zonesOf(i)
	v, wrong := p.zone(*shard, zones, cut)
	if wrong && due == "" {
		due = Zone
	}
	out = append(out, v)
	if due != "" {
		return due, append(out, verdict(RuleThreshold, Pass, "moot",
			"Not evaluated: the chunk has to leave its shard anyway."))
	}
	if v.Outcome == Blocks || v.Outcome == Unknown {
		return "", out
	}
	level, over := p.threshold(*shard, zones, move)
	if over {
		due = Imbalance
	}
	return due, append(out, level)
}

// zone checks every piece of a chunk. A piece that no shard may hold blocks the chunk
// only if it is the only piece.
func (p *Plan) zone(s topology.Shard, zones []string, cut bool) (v Verdict, wrong bool) {
	h := p.s.Table.Health[topology.PartZones]
	if len(p.s.Table.Zones) == 0 && h.At.IsZero() && (h.Err != nil || len(p.s.Table.Health) > 0) {
		return verdict(RuleZone, Unknown, "unread", "The zones are not readable."), false
	}
	homeless := 0
	for _, z := range zones {
		switch {
		case p.members(z) == 0:
			homeless++
		case !mayHold(s, z):
			return verdict(RuleZone, Asks, "wrong",
				"The chunk is in zone {zone}, which {shard} is not in.",
				message.Zone("zone", z), message.Shard("shard", s.Name)), true
		}
	}
	switch {
	case homeless == len(zones):
		return verdict(RuleZone, Blocks, "noShard",
			"The chunk is in zone {zone}, which has no shard: there is nowhere to move it.",
			message.Zone("zone", zones[0])), false
	case cut:
		return verdict(RuleZone, Pass, "straddles",
			"The edge of a zone cuts the chunk: the balancer first splits it there."), false
	case zones[0] != "":
		return verdict(RuleZone, Pass, "kept",
			"The chunk is in zone {zone}, and so is {shard}.",
			message.Zone("zone", zones[0]), message.Shard("shard", s.Name)), false
	case len(p.zones) > 0:
		return verdict(RuleZone, Pass, "outside", "No zone range covers the chunk."), false
	}
	return verdict(RuleZone, Pass, "none", "The collection has no zone ranges."), false
}
