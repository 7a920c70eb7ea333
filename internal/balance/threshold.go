package balance

import (
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// threshold reports whether the chunk's shard has too much of the collection, by the
// release's measure. A chunk that a zone boundary splits is over the threshold if any
// of its pieces is.
func (p *Plan) threshold(s topology.Shard, zones []string, move *Move) (Verdict, bool) {
	if !p.release.Known() {
		return verdict(RuleThreshold, Unknown, "release",
			"The server's version is not known, so its threshold is not known either."), false
	}
	var best Verdict
	for _, z := range zones {
		if p.members(z) == 0 {
			continue // no shard may hold that piece
		}
		measure := p.byCounts
		if p.release.ByData() {
			measure = p.byData
		}
		to := p.least(z, s.Name)
		if move != nil && move.Reason == Imbalance {
			to = move.To // the emptiest may be used by an earlier move of the round
		}
		v := measure(s, z, to)
		if v.Outcome == Asks {
			return v, true
		}
		if best.Code == "" {
			best = v
		}
	}
	return best, false
}

// byCounts compares chunk counts: more than the rounded ideal here, fewer on a shard
// that may receive one.
func (p *Plan) byCounts(s topology.Shard, zone, to string) Verdict {
	here, ideal := p.in(zone, s.Name), p.ideal(zone)
	inZone := ofZone(zone)
	has := "{shard} has {chunks} " + message.Plural(here, "chunk", "chunks")
	facts := []message.Fact{message.Shard("shard", s.Name), message.Count("chunks", here), message.Count("ideal", ideal),
		message.Count("shards", p.members(zone)), message.Zone("zone", zone)}
	if here <= ideal {
		return verdict(RuleThreshold, Blocks, "countEven",
			has+inZone+", no more than its fair share ({ideal}) over {shards} "+
				message.Plural(p.members(zone), "shard.", "shards."), facts...)
	}
	if to == "" {
		return verdict(RuleThreshold, Blocks, "nobody", "No other shard may take a chunk"+inZone+".", facts...)
	}
	facts = append(facts, message.Shard("to", to), message.Count("toChunks", p.in(zone, to)))
	if p.in(zone, to) >= ideal {
		return verdict(RuleThreshold, Blocks, "countNoRoom",
			has+inZone+", more than its fair share ({ideal}), but no shard that could take one has fewer than that: "+
				"{to} has {toChunks}.", facts...)
	}
	return verdict(RuleThreshold, Asks, "countOver",
		has+inZone+", more than its fair share ({ideal}); {to} has {toChunks}.", facts...)
}

// ofZone limits a pattern to a zone; keys outside of zones have none to name.
func ofZone(zone string) string {
	if zone == "" {
		return ""
	}
	return " of zone {zone}"
}

// byData compares bytes: three chunk sizes more than the emptiest possible receiver,
// and no fuller shard in the zone.
func (p *Plan) byData(s topology.Shard, zone, to string) Verdict {
	if p.sizes == nil {
		return verdict(RuleThreshold, Unknown, "sizes",
			"How much of the collection {shard} holds is not known.", message.Shard("shard", p.missing))
	}
	if p.chunkBytes() <= 0 {
		return verdict(RuleThreshold, Unknown, "chunkSize", "The chunk size is not known.")
	}
	here, need := p.sizes[s.Name], dataFactor*p.chunkBytes()
	facts := []message.Fact{message.Shard("shard", s.Name), message.Bytes("bytes", here), message.Bytes("need", need),
		message.Bytes("chunkSize", p.chunkBytes()), message.Zone("zone", zone)}
	if to == "" {
		return verdict(RuleThreshold, Blocks, "nobody", "No other shard may take a chunk"+ofZone(zone)+".", facts...)
	}
	facts = append(facts, message.Shard("to", to), message.Bytes("toBytes", p.sizes[to]), message.Bytes("apart", here-p.sizes[to]))
	const compared = "{shard} has {bytes} of the collection, {to} {toBytes}: {apart} apart, "
	if here-p.sizes[to] < need {
		return verdict(RuleThreshold, Blocks, "dataEven",
			compared+"less than the {need} (3 × chunk size {chunkSize}) from which chunks move.", facts...)
	}
	return verdict(RuleThreshold, Asks, "dataOver",
		compared+"at least the {need} (3 × chunk size {chunkSize}) from which chunks move.", facts...)
}

// least is the shard with the least of the collection that may receive a chunk of the
// zone, other than but; "" if there is none.
func (p *Plan) least(zone, but string) string {
	r := &round{p: p, used: map[string]bool{but: true}}
	return r.receiver(zone)
}

// queue explains why a chunk that is due is not moved in the next round.
func (p *Plan) queue(i int, ch topology.Chunk, due Reason, move *Move) []Verdict {
	zones, _ := p.zonesOf(i)
	to := ""
	for _, z := range zones {
		if due == Zone && mayHold(*p.s.Table.Shard(ch.Shard), z) {
			continue // this piece need not move
		}
		if to = p.least(z, ch.Shard); to != "" {
			break
		}
	}
	if move != nil {
		to = move.To
	}
	if to == "" {
		return []Verdict{verdict(RuleReceiver, Blocks, "none",
			"No shard may take it: each is draining or not in its zone.", message.Zone("zone", zones[0]))}
	}
	out := []Verdict{verdict(RuleReceiver, Pass, "some", "{to} may take it.", message.Shard("to", to))}
	if move != nil {
		return append(out, verdict(RuleTurn, Pass, "next",
			"It is next: a shard's lowest chunk that may move goes first."), p.events(ch.Shard, to))
	}
	if m, ok := p.busy[ch.Shard]; ok {
		return append(out, verdict(RuleBusy, Waits, "shard",
			"{shard} has taken part in a move since {since} UTC: a chunk of {ns} from {from} to {to}.",
			migrationFacts(m, ch.Shard)...))
	}
	for _, m := range p.moves {
		if m.From == ch.Shard {
			return append(out, verdict(RuleTurn, Waits, "first",
				"Chunk {chunk} of {shard} goes first, to {to}; a shard takes part in one move at a time.",
				message.Count("chunk", m.Chunk+1), message.Shard("shard", ch.Shard), message.Shard("to", m.To)), p.events(ch.Shard, to))
		}
	}
	if full, ok := p.stuck[zones[0]]; ok && due == Imbalance {
		return append(out, verdict(RuleTurn, Blocks, "stuck",
			"All chunks of {shard}, the fullest shard, are jumbo, so the balancer gives up for this round.",
			message.Shard("shard", full)))
	}
	if m, ok := p.busy[to]; ok {
		return append(out, verdict(RuleBusy, Waits, "shard",
			"{shard} has taken part in a move since {since} UTC: a chunk of {ns} from {from} to {to}.",
			migrationFacts(m, to)...))
	}
	return append(out, verdict(RuleTurn, Waits, "taken",
		"Other moves of the round take its shard or the receivers first.",
		message.Shard("shard", ch.Shard)), p.events(ch.Shard, to))
}

// events is the verdict on running migrations of the two shards.
func (p *Plan) events(from, to string) Verdict {
	if h := p.s.Table.Health[topology.PartEvents]; h.At.IsZero() && h.Err != nil {
		return verdict(RuleBusy, Unknown, "unread",
			"The changelog is not readable, so running moves are not known.")
	}
	return verdict(RuleBusy, Pass, "free",
		"The changelog shows no running move of {shard} or {to}.",
		message.Shard("shard", from), message.Shard("to", to))
}

func migrationFacts(m Migration, shard string) []message.Fact {
	return []message.Fact{message.Shard("shard", shard), message.Namespace("ns", m.NS),
		message.Shard("from", m.From), message.Shard("to", m.To),
		message.Words("since", m.Begun.UTC().Format("2006-01-02 15:04:05"))}
}
