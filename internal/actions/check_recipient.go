package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// checkRecipients checks that each recipient may take what moves to it. A draining shard
// takes nothing. A move to a shard outside of the range's zone is refused before 6.0;
// later releases accept it, and the balancer moves the range away again. Disk space
// is another check.
func (d *draftBuilder) checkRecipients() (out findings) {
	for _, name := range d.recipients() {
		s := d.shard(name)
		if s != nil && s.Draining {
			out.add(d.checkDraining(Block, name))
			continue
		}
		if zone, ok := d.zoneWithout(name); ok {
			out.block("recipient", d.fromTable(topology.PartZones), message.New("recipient.outside",
				"{shard} is not in the zone {zone}, which this range belongs to. Change the zone first.",
				message.Shard("shard", name), message.Zone("zone", zone)))
			continue
		}
		if !d.zonesRead() {
			out.warn("recipient", d.fromTable(topology.PartZones), message.New("recipient.zonesUnread",
				"It is not known whether the zones allow this range on {shard}: they could not be read.",
				message.Shard("shard", name)))
			continue
		}
		out.pass("recipient", d.fromTable(topology.PartShards), message.New("recipient.takes",
			"{shard} can take the chunks that move to it.", message.Shard("shard", name)))
	}
	return out
}

// checkDraining says that a shard is draining.
func (d *draftBuilder) checkDraining(v Verdict, shard string) (out findings) {
	out.check(Check{ID: "recipient", Verdict: v, Source: d.fromTable(topology.PartShards), Text: message.New("recipient.draining",
		"{shard} is draining and takes no chunks.", message.Shard("shard", shard))})
	return out
}

// zoneWithout finds a zone of a range that moves to the shard, of which the shard is
// not a member.
func (d *plannedCluster) zoneWithout(shard string) (string, bool) {
	for _, m := range d.moves {
		if m.to != shard {
			continue
		}
		for _, z := range operation.OverlappingRanges(d.ranges(m.k.c.NS), m.lo, m.hi) {
			if !d.isInZone(shard, z.Zone) {
				return z.Zone, true
			}
		}
	}
	return "", false
}
