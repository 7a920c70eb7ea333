package actions

import (
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Isolate pins a project and keeps everything else of the same collections away
// from its shard.
const Isolate Kind = "isolate"

func describeIsolate() Description {
	return Description{
		Kind:      Isolate,
		Title:     "Isolate a project on a shard",
		Lead:      "As pinning; all other rows of these collections are kept away from the shard.",
		Proof:     "The zones have their ranges; the project’s are all on the shard, and nothing else is there.",
		Undo:      "Removing the zones, moving back and merging.",
		Arguments: pinArguments(),
		Adapts:    true,
		KeepsGoal: true,
		Gathers:   true,
		LeastRisk: High,
		rewrite:   pinShard,
		plan:      planIsolate,
	}
}

func planIsolate(d *draftBuilder) (Draft, Args, error) {
	p, err := d.pinnedProject()
	if err != nil {
		return Draft{}, d.a, err
	}
	held := d.heldBy(p)
	d.pin(p, held)
	d.keepOut(p, held)
	d.already(p)
	undo := message.New("isolate",
		"The zones {zone} and {others} are removed, and the chunks that were moved and split for {project} are moved back and merged.",
		projectFact(p), message.Zone("zone", placement.PinZone(p.ID.Hex())), message.Zone("others", placement.OthersZone(p.ID.Hex())))
	if d.a.Mode == ModeBalancer { // its cuts at the edges of zones stay
		undo.Code = "isolate.cutsStay"
		undo.Pattern = "The zones {zone} and {others} are removed, and the data that the balancer moved for {project} is moved back. " +
			"The splits at its edges stay; they do no harm."
	}
	summary := d.pinned("isolate", "Pin the project {project} ({id}) to {shard}, in {collections} collections, "+
		"and keep all others away from that shard there", p, held)
	return d.finish(summary, Undo{Possible: true, Text: undo})
}

// keepOut gives all that no range covers yet to a zone of the other shards.
func (d *draftBuilder) keepOut(p placement.Project, held []held) {
	zone := placement.OthersZone(p.ID.Hex())
	var others []string
	for _, s := range d.s.Table.Shards {
		if s.Name != d.a.Shard && !s.Draining {
			others = append(others, s.Name)
		}
	}
	if len(others) == 0 {
		d.block("isolate", d.fromTable(topology.PartShards), message.New("isolate.alone",
			"There is no other shard to hold the other projects’ data.",
			message.Shard("shard", d.a.Shard)))
		return
	}
	if d.carries(d.a.Shard, zone) {
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
	for _, h := range held {
		d.keepOutOf(h, p, others, load)
		all = append(all, d.estimate(h.c, h.c.Key.Min(), h.lo, bytesOf), d.estimate(h.c, h.hi, h.c.Key.Max(), bytesOf))
	}
	whole := sumOf(all...)
	text := message.New("isolate.complementUnknown",
		"All other data of these collections, of unknown size, is kept on {shards} shards.",
		message.Count("shards", len(others)))
	if whole.Known {
		text = message.New("isolate.complement",
			"All other data of these collections, about {bytes}, is kept on {shards} shards.",
			message.Bytes("bytes", whole.Value), message.Count("shards", len(others)))
	}
	d.warn("isolate", d.fromTable(topology.PartSizes), text)
}

// keepOutOf does it in one collection. Ranges that are there already stay; one
// that its shard may hold would let others in.
func (d *draftBuilder) keepOutOf(h held, p placement.Project, others []string, load map[string]int64) {
	k := d.future(h.c)
	for shard, n := range k.counts() {
		load[shard] = n[1]
	}
	least := func(from string) string {
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
	for _, z := range d.ranges(h.c.NS) {
		if z.Zone != own && z.Zone != zone && d.carries(d.a.Shard, z.Zone) {
			d.block("zone-overlap", d.fromTable(topology.PartZones), message.New("zone-overlap.shares",
				"{shard} is also in the zone {zone}, which has ranges in {ns}: other projects’ data could be placed "+
					"there.",
				message.Namespace("ns", h.c.NS), message.Zone("zone", z.Zone), message.Shard("shard", d.a.Shard)))
			return
		}
	}
	kept := d.zoned(h.c, zone)
	for _, g := range d.gaps(h.c) {
		d.setRange(h.c, g[0], g[1], zone)
		kept = append(kept, g)
	}
	for _, g := range kept {
		if d.a.Mode == ModeBalancer {
			if slices.ContainsFunc(k.within(g[0], g[1]), func(p futureChunk) bool { return p.Shard == d.a.Shard }) {
				d.awaitOff(k, g[0], g[1], d.a.Shard, least)
			}
			continue
		}
		d.cutOut(k, g[0], g[1])
		for _, ch := range k.within(g[0], g[1]) {
			if ch.Shard == d.a.Shard {
				d.moveOff(k, ch.Min, ch.Max, least(ch.Shard), d.a.Shard)
			}
		}
	}
}

// zoned are the ranges of a collection that a zone has already.
func (d *draftBuilder) zoned(c *topology.Collection, zone string) (out [][2]key) {
	for _, z := range meeting(d.ranges(c.NS), c.Key.Min(), c.Key.Max()) {
		if z.Zone == zone {
			out = append(out, [2]key{z.Min, z.Max})
		}
	}
	return out
}

// gaps are the ranges of a collection's keys that no zone range covers.
func (d *draftBuilder) gaps(c *topology.Collection) [][2]key {
	var out [][2]key
	at := c.Key.Min()
	for _, z := range meeting(d.ranges(c.NS), c.Key.Min(), c.Key.Max()) {
		if at.Compare(z.Min) < 0 {
			out = append(out, [2]key{at, z.Min})
		}
		at = later(at, z.Max)
	}
	if at.Compare(c.Key.Max()) < 0 {
		out = append(out, [2]key{at, c.Key.Max()})
	}
	return out
}
