package balance

import "shardboard/internal/topology"

// threshold reports whether the chunk's shard has too much of the collection, by the
// release's measure. A chunk that a zone boundary splits is over the threshold if any
// of its pieces is.
func (p *Plan) threshold(s topology.Shard, zones []string, move *Move) (Verdict, bool) {
	if !p.release.Known() {
		return verdict(RuleThreshold, Unknown, "release"), false
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
	args := []string{"shard", s.Name, "chunks", number(here), "ideal", number(ideal), "shards", number(p.members(zone)), "zone", zone}
	if here <= ideal {
		return verdict(RuleThreshold, Blocks, "countEven", args...)
	}
	if to == "" {
		return verdict(RuleThreshold, Blocks, "nobody", args...)
	}
	args = append(args, "to", to, "toChunks", number(p.in(zone, to)))
	if p.in(zone, to) >= ideal {
		return verdict(RuleThreshold, Blocks, "countNoRoom", args...)
	}
	return verdict(RuleThreshold, Asks, "countOver", args...)
}

// byData compares bytes: three chunk sizes more than the emptiest possible receiver,
// and no fuller shard in the zone.
func (p *Plan) byData(s topology.Shard, zone, to string) Verdict {
	if p.sizes == nil {
		return verdict(RuleThreshold, Unknown, "sizes", "shard", p.missing)
	}
	if p.chunkBytes() <= 0 {
		return verdict(RuleThreshold, Unknown, "chunkSize")
	}
	here, need := p.sizes[s.Name], dataFactor*p.chunkBytes()
	args := []string{"shard", s.Name, "bytes", text(here), "need", text(need), "chunkSize", text(p.chunkBytes()), "zone", zone}
	if to == "" {
		return verdict(RuleThreshold, Blocks, "nobody", args...)
	}
	args = append(args, "to", to, "toBytes", text(p.sizes[to]), "apart", text(here-p.sizes[to]))
	if here-p.sizes[to] < need {
		return verdict(RuleThreshold, Blocks, "dataEven", args...)
	}
	return verdict(RuleThreshold, Asks, "dataOver", args...)
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
		return []Verdict{verdict(RuleReceiver, Blocks, "none", "zone", zones[0])}
	}
	out := []Verdict{verdict(RuleReceiver, Pass, "some", "to", to)}
	if move != nil {
		return append(out, verdict(RuleTurn, Pass, "next"), p.events(ch.Shard, to))
	}
	if m, ok := p.busy[ch.Shard]; ok {
		return append(out, verdict(RuleBusy, Waits, "shard", migrationArgs(m, ch.Shard)...))
	}
	for _, m := range p.moves {
		if m.From == ch.Shard {
			return append(out, verdict(RuleTurn, Waits, "first", "chunk", number(m.Chunk+1), "shard", ch.Shard, "to", m.To), p.events(ch.Shard, to))
		}
	}
	if full, ok := p.stuck[zones[0]]; ok && due == Imbalance {
		return append(out, verdict(RuleTurn, Blocks, "stuck", "shard", full))
	}
	if m, ok := p.busy[to]; ok {
		return append(out, verdict(RuleBusy, Waits, "shard", migrationArgs(m, to)...))
	}
	return append(out, verdict(RuleTurn, Waits, "taken", "shard", ch.Shard), p.events(ch.Shard, to))
}

// events is the verdict on running migrations of the two shards.
func (p *Plan) events(from, to string) Verdict {
	if h := p.s.Table.Health[topology.PartEvents]; h.At.IsZero() && h.Err != nil {
		return verdict(RuleBusy, Unknown, "unread")
	}
	return verdict(RuleBusy, Pass, "free", "shard", from, "to", to)
}

func migrationArgs(m Migration, shard string) []string {
	return []string{"shard", shard, "ns", string(m.NS), "from", m.From, "to", m.To, "since", m.Begun.UTC().Format("2006-01-02 15:04:05")}
}
