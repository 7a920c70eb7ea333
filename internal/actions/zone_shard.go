package actions

import (
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ZoneAddShard puts a shard into a zone.
const ZoneAddShard Kind = "zone-add-shard"

func describeZoneAddShard() Description {
	return Description{
		Kind:      ZoneAddShard,
		Title:     "Add a shard to a zone",
		Lead:      "The shard may then hold the zone’s ranges.",
		Proof:     "The shard is in the zone.",
		Undo:      "Removing the shard from the zone.",
		Arguments: []Argument{argShard.needed().about(), argZone.needed().help("The name of a zone, an existing one or a new one.")},
		plan:      planZoneAddShard,
	}
}

func planZoneAddShard(d *draftBuilder) (Draft, Args, error) {
	a := d.a
	if d.carries(a.Shard, a.Zone) {
		d.block("zone", d.fromTable(topology.PartShards), message.New("zone.member",
			"{shard} is already in the zone {zone}.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)))
	}
	if d.shard(a.Shard).Draining {
		d.warn("recipient", d.fromTable(topology.PartShards), message.New("recipient.draining",
			"{shard} is draining and takes no chunks.", message.Shard("shard", a.Shard)))
	}
	d.addZone(a.Shard, a.Zone)
	d.checkConsequence(a.Zone, d.rangesOf(a.Zone))
	return d.finish(message.New("zone-add-shard",
		"Add the shard {shard} to the zone {zone}.",
		message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)),
		Undo{Possible: true, Text: message.New("zone-add-shard",
			"{shard} is removed from the zone {zone}.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)), Kind: ZoneRemoveShard, Args: Args{Shard: a.Shard, Zone: a.Zone}})
}

// ZoneRemoveShard takes a shard out of a zone.
const ZoneRemoveShard Kind = "zone-remove-shard"

func describeZoneRemoveShard() Description {
	return Description{
		Kind:      ZoneRemoveShard,
		Title:     "Remove a shard from a zone",
		Lead:      "The zone’s ranges leave the shard when the balancer next runs.",
		Proof:     "The shard is not in the zone.",
		Undo:      "Adding the shard to the zone.",
		Arguments: []Argument{argShard.needed().about(), argZone.needed().about()},
		plan:      planZoneRemoveShard,
	}
}

func planZoneRemoveShard(d *draftBuilder) (Draft, Args, error) {
	a := d.a
	ranges := d.rangesOf(a.Zone)
	switch {
	case !d.carries(a.Shard, a.Zone):
		d.block("zone", d.fromTable(topology.PartShards), message.New("zone.notMember",
			"{shard} is not in the zone {zone}.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)))
	case len(ranges) > 0 && slices.Equal(d.members(a.Zone), []string{a.Shard}):
		d.block("zone", d.fromRule(), message.New("zone.last",
			"{shard} is the last shard of the zone {zone}, which has {ranges} ranges. Remove those first, or "+
				"add another shard.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone), message.Count("ranges", len(ranges))))
	}
	d.removeZone(a.Shard, a.Zone)
	d.checkConsequence(a.Zone, ranges)
	return d.finish(message.New("zone-remove-shard",
		"Remove the shard {shard} from the zone {zone}.",
		message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)),
		Undo{Possible: true, Text: message.New("zone-remove-shard",
			"{shard} is added to the zone {zone} again.",
			message.Shard("shard", a.Shard), message.Zone("zone", a.Zone)), Kind: ZoneAddShard, Args: Args{Shard: a.Shard, Zone: a.Zone}})
}

// rangesOf are all ranges of a zone.
func (d *draftBuilder) rangesOf(zone string) []topology.ZoneRange {
	var out []topology.ZoneRange
	for _, z := range d.s.Table.Zones {
		if z.Zone == zone {
			out = append(out, z)
		}
	}
	return out
}
