package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Isolate pins a project and keeps all other data of the same collections away from
// its shard.
const Isolate Kind = "isolate"

func describeIsolate() Description {
	return Description{
		Kind:      Isolate,
		Title:     "Isolate a project on a shard",
		Lead:      "Pins the project, and keeps all other data of the same collections away from its shard.",
		Proof:     "The zones have their ranges; all of the project’s chunks are on the shard, and no others.",
		Undo:      "Removes the zones, moves the chunks back and merges what was split.",
		Arguments: pinArguments(),
		Adapts:    true,
		KeepsGoal: true,
		Gathers:   true,
		LeastRisk: High,
		rewrite:   useToAsShard,
		plan:      planIsolate,
	}
}

func planIsolate(d *draftBuilder) (Draft, Args, error) {
	p, err := d.projectToPin()
	if err != nil {
		return Draft{}, d.a, err
	}
	ranges := d.projectRanges(p)
	d.pinProject(p, ranges)
	d.zoneOthers(p, ranges)
	d.add(d.checkAlreadyPinned(p))
	undo := message.New("isolate",
		"Removes the zones {zone} and {others}, moves the chunks of {project} back and merges what was split.",
		projectFact(p), message.Zone("zone", placement.PinZone(p.ID.Hex())), message.Zone("others", placement.OthersZone(p.ID.Hex())))
	if d.a.Mode == ModeBalancer { // as of a pin
		undo.Code = "isolate.cutsStay"
		undo.Pattern = "Removes the zones {zone} and {others} and moves the data of {project} back. " +
			"The balancer’s splits at its bounds stay; they do no harm."
	}
	summary := d.pinSummary("isolate", "Pin the project {project} ({id}) to {shard}, in {collections}, "+
		"and keep all other data of these collections away from that shard", p, ranges)
	return d.finish(summary, Undo{Possible: true, Text: undo})
}

// zoneOthers assigns all keys that no zone range covers to a zone of the other shards.
func (d *draftBuilder) zoneOthers(p placement.Project, ranges []projectRange) {
	zone := placement.OthersZone(p.ID.Hex())
	var others []string
	for _, s := range d.s.Table.Shards {
		if s.Name != d.a.Shard && !s.Draining {
			others = append(others, s.Name)
		}
	}
	if len(others) == 0 {
		d.block("isolate", d.fromTable(topology.PartShards), message.New("isolate.alone",
			"No other shard can take the data of the other projects.",
			message.Shard("shard", d.a.Shard)))
		return
	}
	if d.isInZone(d.a.Shard, zone) {
		d.block("isolate", d.fromTable(topology.PartShards), message.New("isolate.member",
			"{shard} is in the zone {zone}, which holds the other projects’ data. Unpin the project first.",
			message.Shard("shard", d.a.Shard), message.Zone("zone", zone)))
		return
	}
	for _, s := range others {
		d.addZone(s, zone)
	}
	d.receivers = append(d.receivers, others...)
	load := map[string]int64{}
	var all []topology.Figure
	for _, r := range ranges {
		d.zoneOthersIn(r, p, others, load)
		all = append(all, d.estimate(r.c, r.c.Key.Min(), r.lo, bytesOf), d.estimate(r.c, r.hi, r.c.Key.Max(), bytesOf))
	}
	whole := sumOf(all...)
	rest := message.Plural(len(others), "the other shard", "the other {shards} shards")
	text := message.New("isolate.complementUnknown",
		"All other data of these collections stays on "+rest+". Its size is not known.",
		message.Count("shards", len(others)))
	if whole.Known {
		text = message.New("isolate.complement",
			"All other data of these collections, about {bytes}, stays on "+rest+".",
			message.Bytes("bytes", whole.Value), message.Count("shards", len(others)))
	}
	d.warn("isolate", d.fromTable(topology.PartSizes), text)
}

// zoneOthersIn does this in one collection. load counts chunks per shard, so that what
// has to move goes where the fewest are. Existing zone ranges stay. One of a zone that
// the project's shard is in blocks, because it could bring other data there.
func (d *draftBuilder) zoneOthersIn(r projectRange, p placement.Project, others []string, load map[string]int64) {
	k := d.future(r.c)
	for shard, n := range k.counts() {
		load[shard] = n[1]
	}
	target := func(from string) string {
		if from != d.a.Shard {
			return from
		}
		best := others[0]
		for _, s := range others[1:] {
			if load[s] < load[best] {
				best = s
			}
		}
		load[best]++
		return best
	}
	own, zone := placement.PinZone(p.ID.Hex()), placement.OthersZone(p.ID.Hex())
	for _, z := range d.ranges(r.c.NS) {
		if z.Zone != own && z.Zone != zone && d.isInZone(d.a.Shard, z.Zone) {
			d.block("zone-overlap", d.fromTable(topology.PartZones), message.New("zone-overlap.shares",
				"{shard} is also in the zone {zone}, which has ranges in {ns}: the balancer could place data of "+
					"other projects there.",
				message.Namespace("ns", r.c.NS), message.Zone("zone", z.Zone), message.Shard("shard", d.a.Shard)))
			return
		}
	}
	spans := d.spansInZone(r.c, zone)
	for _, g := range d.spansWithoutZone(r.c) {
		d.setRange(r.c, g[0], g[1], zone)
		spans = append(spans, g)
	}
	for _, g := range spans {
		if d.a.Mode == ModeBalancer {
			if slices.ContainsFunc(k.within(g[0], g[1]), func(p futureChunk) bool { return p.Shard == d.a.Shard }) {
				d.awaitNoneOn(k, g[0], g[1], d.a.Shard, target)
			}
			continue
		}
		d.splitAtEnds(k, g[0], g[1])
		for _, ch := range k.within(g[0], g[1]) {
			if ch.Shard == d.a.Shard {
				d.moveAnywhereOff(k, ch.Min, ch.Max, target(ch.Shard), d.a.Shard, others)
			}
		}
	}
}

// spansInZone returns the ranges of a collection that are assigned to a zone.
func (d *plannedCluster) spansInZone(c *topology.Collection, zone string) (out [][2]key) {
	for _, z := range operation.OverlappingRanges(d.ranges(c.NS), c.Key.Min(), c.Key.Max()) {
		if z.Zone == zone {
			out = append(out, [2]key{z.Min, z.Max})
		}
	}
	return out
}

// spansWithoutZone returns the key ranges of a collection that no zone range covers.
func (d *plannedCluster) spansWithoutZone(c *topology.Collection) [][2]key {
	var out [][2]key
	at := c.Key.Min()
	for _, z := range operation.OverlappingRanges(d.ranges(c.NS), c.Key.Min(), c.Key.Max()) {
		if at.Compare(z.Min) < 0 {
			out = append(out, [2]key{at, z.Min})
		}
		at = shardkey.Later(at, z.Max)
	}
	if at.Compare(c.Key.Max()) < 0 {
		out = append(out, [2]key{at, c.Key.Max()})
	}
	return out
}
