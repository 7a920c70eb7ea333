package balance

import (
	"slices"
	"strconv"
	"time"

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
	yes := func(bad bool, rule Rule, code, otherwise string) Verdict {
		if bad {
			return verdict(rule, Blocks, code)
		}
		return verdict(rule, Pass, otherwise)
	}
	out := []Verdict{p.balancer(), p.window()}
	if p.release.AtLeast(8, 0, 0) {
		out = append(out, yes(p.c.Unsplittable, RuleTracked, "unsharded", "sharded"))
	}
	out = append(out,
		yes(p.c.NoBalance, RuleNoBalance, "on", "off"),
		yes(p.c.MigrationsBlocked, RuleMigrations, "blocked", "allowed"))
	if p.release.AtLeast(5, 0, 0) {
		out = append(out, yes(p.c.Resharding || p.c.Temporary, RuleResharding, "on", "off"))
	}
	return out
}

func (p *Plan) balancer() Verdict {
	b := p.s.Table.Balancer
	switch {
	case !b.Known:
		return verdict(RuleBalancer, Unknown, "unread")
	case b.Stopped || b.Mode == "off":
		return verdict(RuleBalancer, Blocks, "off")
	case b.Mode == "autoSplitOnly" && p.release.AutoSplits():
		return verdict(RuleBalancer, Blocks, "splitsOnly")
	case b.Mode != "full":
		return verdict(RuleBalancer, Blocks, "mode", "mode", b.Mode)
	}
	return verdict(RuleBalancer, Pass, "on")
}

// window includes both ends; a start after the stop wraps around midnight; the clock is
// the config server's (s/balancer_configuration.cpp).
func (p *Plan) window() Verdict {
	b := p.s.Table.Balancer
	start, okStart := clock(b.WindowStart)
	stop, okStop := clock(b.WindowStop)
	args := []string{"start", b.WindowStart, "stop", b.WindowStop}
	switch {
	case !b.Known:
		return verdict(RuleWindow, Unknown, "unread")
	case b.WindowStart == "" && b.WindowStop == "" || !okStart || !okStop || start == stop:
		return verdict(RuleWindow, Pass, "none")
	case p.s.Clock.IsZero():
		return verdict(RuleWindow, Unknown, "clock", args...)
	}
	now := p.s.Clock.Hour()*60 + p.s.Clock.Minute()
	open := start <= now && now <= stop
	if start > stop {
		open = now >= start || now <= stop
	}
	if open {
		return verdict(RuleWindow, Pass, "open", args...)
	}
	return verdict(RuleWindow, Blocks, "closed", args...)
}

// clock reads "HH:MM" as minutes after midnight.
func clock(s string) (int, bool) {
	t, err := time.Parse("15:4", s)
	return t.Hour()*60 + t.Minute(), err == nil
}

func (p *Plan) jumbo(ch topology.Chunk) Verdict {
	if ch.Jumbo {
		return verdict(RuleJumbo, Blocks, "flagged")
	}
	return verdict(RuleJumbo, Pass, "none")
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
		return "", []Verdict{verdict(RuleDraining, Unknown, "noShard", "shard", ch.Shard)}
	}
	if shard.Draining {
		due = Draining
		out = append(out, verdict(RuleDraining, Asks, "on", "shard", shard.Name))
	} else {
		out = append(out, verdict(RuleDraining, Pass, "off", "shard", shard.Name))
	}
	zones, cut := p.zonesOf(i)
	v, wrong := p.zone(*shard, zones, cut)
	if wrong && due == "" {
		due = Zone
	}
	out = append(out, v)
	if due != "" {
		return due, append(out, verdict(RuleThreshold, Pass, "moot"))
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
		return verdict(RuleZone, Unknown, "unread"), false
	}
	homeless := 0
	for _, z := range zones {
		switch {
		case p.members(z) == 0:
			homeless++
		case !mayHold(s, z):
			return verdict(RuleZone, Asks, "wrong", "zone", z, "shard", s.Name), true
		}
	}
	switch {
	case homeless == len(zones):
		return verdict(RuleZone, Blocks, "noShard", "zone", zones[0]), false
	case cut:
		return verdict(RuleZone, Pass, "straddles"), false
	case zones[0] != "":
		return verdict(RuleZone, Pass, "kept", "zone", zones[0], "shard", s.Name), false
	case len(p.zones) > 0:
		return verdict(RuleZone, Pass, "outside"), false
	}
	return verdict(RuleZone, Pass, "none"), false
}

func text(n int64) string { return strconv.FormatInt(n, 10) }
