package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ZoneAddShard adds a shard to a zone.
const ZoneAddShard Kind = "zone-add-shard"

func describeZoneAddShard() Description {
	return Description{
		Kind:      ZoneAddShard,
		Title:     "Add a shard to a zone",
		Lead:      "The balancer may then place the zone’s ranges on this shard.",
		Proof:     "The shard is in the zone.",
		Undo:      "Removes the shard from the zone.",
		Arguments: []Argument{argShard.needed().about(), argZone.needed().help("The name of a zone, an existing one or a new one.")},
		InBatches: true,
		Sends:     []operation.Op{operation.OpAddZone},
		plan:      planZoneAddShard,
	}
}

func planZoneAddShard(d *draftBuilder) (Draft, Args, error) {
	a := d.a
	if d.isInZone(a.Shard, a.Zone) {
		d.block("zone", d.fromTable(topology.PartShards), message.New("zone.member",
			"{shard} is already in the zone {zone}.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)))
	}
	if d.shard(a.Shard).Draining {
		d.add(d.checkDraining(Warn, a.Shard))
	}
	d.addZone(a.Shard, a.Zone)
	d.add(d.checkConsequence(a.Zone, d.rangesOf(a.Zone)))
	return d.finish(message.New("zone-add-shard",
		"Add the shard {shard} to the zone {zone}.",
		message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)),
		Undo{Possible: true, Text: message.New("zone-add-shard",
			"Removes {shard} from the zone {zone}.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)), Kind: ZoneRemoveShard, Args: Args{Shard: a.Shard, Zone: a.Zone}})
}

// ZoneRemoveShard removes a shard from a zone.
const ZoneRemoveShard Kind = "zone-remove-shard"

func describeZoneRemoveShard() Description {
	return Description{
		Kind:      ZoneRemoveShard,
		Title:     "Remove a shard from a zone",
		Lead:      "The balancer then moves the zone’s ranges away from this shard.",
		Proof:     "The shard is not in the zone.",
		Undo:      "Adds the shard to the zone.",
		Arguments: []Argument{argShard.needed().about(), argZone.needed().about()},
		InBatches: true,
		Sends:     []operation.Op{operation.OpRemoveZone},
		plan:      planZoneRemoveShard,
	}
}

func planZoneRemoveShard(d *draftBuilder) (Draft, Args, error) {
	a := d.a
	ranges := d.rangesOf(a.Zone)
	switch {
	case !d.isInZone(a.Shard, a.Zone):
		d.block("zone", d.fromTable(topology.PartShards), message.New("zone.notMember",
			"{shard} is not in the zone {zone}.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)))
	case len(ranges) > 0 && slices.Equal(d.members(a.Zone), []string{a.Shard}):
		d.block("zone", d.fromRule(), message.New("zone.last",
			"{shard} is the last shard of the zone {zone}, which has "+
				message.Plural(len(ranges), "1 range", "{ranges} ranges")+". Remove the ranges first, "+
				"or add another shard.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone), message.Count("ranges", len(ranges))))
	}
	d.removeZone(a.Shard, a.Zone)
	d.add(d.checkConsequence(a.Zone, ranges))
	return d.finish(message.New("zone-remove-shard",
		"Remove the shard {shard} from the zone {zone}.",
		message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)),
		Undo{Possible: true, Text: message.New("zone-remove-shard",
			"Adds {shard} to the zone {zone} again.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)), Kind: ZoneAddShard, Args: Args{Shard: a.Shard, Zone: a.Zone}})
}

// rangesOf returns all ranges of a zone.
func (d *plannedCluster) rangesOf(zone string) []topology.ZoneRange {
	var out []topology.ZoneRange
	for _, z := range d.now.Zones {
		if z.Zone == zone {
			out = append(out, z)
		}
	}
	return out
}
