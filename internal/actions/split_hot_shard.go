package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// shardRates returns the writes a second of each shard, including those to hot chunks
// of collections that are not counted; nil when not known.
func (d *draftBuilder) shardRates(hot []*hotChunk) map[string]float64 {
	if d.s.Writes.Shards == nil {
		return nil
	}
	out := map[string]float64{}
	for shard, rate := range d.s.Writes.Shards {
		out[shard] = rate
	}
	for _, h := range hot {
		if h.writes.Reason == "" && !h.writes.InShards {
			out[h.owner] += h.writes.PerSecond
		}
	}
	return out
}

// chooseShard chooses the half that moves and its recipient, and updates rates. Without
// a good choice it returns the check that gives the reason.
func (d *draftBuilder) chooseShard(c *topology.Collection, h *hotChunk, rates map[string]float64) (Check, bool) {
	facts := []message.Fact{message.Namespace("ns", c.NS), message.Key("min", c.Key.Display(h.lo)), message.Shard("shard", h.owner)}
	no := func(code, pattern string) (Check, bool) {
		return Check{ID: "even", Verdict: Block, Text: message.New(code, pattern, facts...), Source: d.fromWrites(h.writes)}, false
	}
	known := rates != nil && h.writes.Reason == ""
	switch {
	case d.a.To == h.owner:
		return Check{ID: "recipient", Verdict: Block, Text: message.New("recipient.same",
			"The chunk is already on {shard}.", message.Shard("shard", h.owner)), Source: d.fromTable(topology.PartRouting)}, false
	case d.a.To == "" && !known:
		return no("even.unknown", "It is not known which shard takes the fewest writes, "+
			"so none can be chosen for half of the chunk of {ns} at {min}. Name one as “to”.")
	}
	var best, bestAfterCleanup placing
	found, foundAfterCleanup := false, false
	for _, half := range []string{HalfUpper, HalfLower} {
		h.half = half
		lo, hi, rate := h.movingHalf()
		size := d.estimate(c, lo, hi, bytesOf)
		for _, s := range d.s.Table.Shards {
			if s.Name == h.owner || d.a.To != "" && s.Name != d.a.To || d.a.To == "" && !d.mayTake(c, lo, hi, s, size) {
				continue
			}
			p := placing{half: half, to: s.Name, rate: rate, bytes: size.Value}
			if known {
				p.gain = rate * (rates[h.owner] - rates[s.Name] - rate)
			}
			if d.a.To == "" && d.mayStillDelete(c, lo, hi, s.Name) {
				if !foundAfterCleanup || p.better(bestAfterCleanup) {
					bestAfterCleanup, foundAfterCleanup = p, true
				}
				continue
			}
			if !found || p.better(best) {
				best, found = p, true
			}
		}
	}
	improves := func(p placing) bool { return p.gain > minImprovement*p.rate*rates[h.owner] }
	switch {
	case d.a.To != "" || found && improves(best):
	case foundAfterCleanup && improves(bestAfterCleanup):
		facts = append(facts, message.Shard("to", bestAfterCleanup.to))
		return no("even.waits", "Moving half of the chunk of {ns} at {min} to {to} would make the writes most even. But {to} may not have "+
			"deleted documents of this range yet that were moved away, and until then a move there fails. "+
			"Wait a quarter of an hour, or name a shard as “to”.")
	case found:
		return no("even.already", "Moving half of the chunk of {ns} at {min} away from {shard} to any shard that can take it "+
			"would not make the writes more even.")
	default:
		return no("even.nowhere", "No other shard can take a half of the chunk of {ns} at {min}: "+
			"each is outside the chunk’s zone, draining, full, or has documents with the same ids.")
	}
	h.half, h.to = best.half, best.to
	d.add(d.checkWritesAfterMove(c, h, rates, known, best.gain))
	if known {
		rates[h.owner] -= best.rate
		rates[h.to] += best.rate
	}
	return Check{}, true
}

// placing is the choice of one half and one shard.
type placing struct {
	half, to string
	rate     float64
	gain     float64 // how much more even the shards' writes become: half of the decrease of the sum of their squares
	bytes    int64   // to move
}

// better prefers the choice that makes the writes more even, then the one that moves less.
func (p placing) better(o placing) bool {
	if p.gain != o.gain {
		return p.gain > o.gain
	}
	return p.bytes < o.bytes
}

// mayTake reports whether a shard could take a range. It refuses what the checks of the
// finished plan would block.
func (d *draftBuilder) mayTake(c *topology.Collection, lo, hi key, s topology.Shard, size topology.Figure) bool {
	if s.Draining {
		return false
	}
	for _, z := range operation.OverlappingRanges(d.ranges(c.NS), lo, hi) {
		if !d.isInZone(s.Name, z.Zone) {
			return false
		}
	}
	if _, shared := d.sharedIDs(c, lo, hi, s.Name); shared {
		return false
	}
	disk := d.s.Table.DiskOf(s.Name)
	return !disk.Known() || !size.Known || size.Value <= roomOn(disk)
}

// mayStillDelete reports whether a shard may not have deleted documents of a range yet
// that it gave away. A move there would fail.
func (d *draftBuilder) mayStillDelete(c *topology.Collection, lo, hi key, shard string) bool {
	return slices.ContainsFunc(d.cleanups(), func(u operation.Cleanup) bool {
		return u.NS == c.NS && u.Shard == shard && u.OverlapsKeys(c.Key, lo, hi)
	})
}
