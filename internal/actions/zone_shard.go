package actions

import (
	"slices"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// planZoneAddShard puts a shard into a zone. Takes shard and zone.
func planZoneAddShard(s Situation, a Args) (Draft, Args, error) {
	d, err := zoning(s, ZoneAddShard, a)
	if err != nil {
		return Draft{}, a, err
	}
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

// planZoneRemoveShard takes a shard out of a zone. Takes shard and zone.
func planZoneRemoveShard(s Situation, a Args) (Draft, Args, error) {
	d, err := zoning(s, ZoneRemoveShard, a)
	if err != nil {
		return Draft{}, a, err
	}
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

func zoning(s Situation, kind Kind, a Args) (*drafting, error) {
	if err := a.only(kind, "shard", "zone"); err != nil {
		return nil, err
	}
	if _, err := shardOf(s.Table, kind, "shard", a.Shard); err != nil {
		return nil, err
	}
	if a.Zone == "" {
		return nil, missing(kind, "zone", "the name of a zone")
	}
	return draft(s, kind, a), nil
}

// rangesOf are all ranges of a zone.
func (d *drafting) rangesOf(zone string) []topology.ZoneRange {
	var out []topology.ZoneRange
	for _, z := range d.s.Table.Zones {
		if z.Zone == zone {
			out = append(out, z)
		}
	}
	return out
}
