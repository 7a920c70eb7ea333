package actions

import (
	"slices"

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
		d.check(Check{ID: "zone", Verdict: Block, Text: say("zone.member", "shard", a.Shard, "zone", a.Zone), Source: d.fromTable(topology.PartShards)})
	}
	if d.shard(a.Shard).Draining {
		d.check(Check{ID: "recipient", Verdict: Warn, Text: say("recipient.draining", "shard", a.Shard), Source: d.fromTable(topology.PartShards)})
	}
	d.addZone(a.Shard, a.Zone)
	d.checkConsequence(a.Zone, d.rangesOf(a.Zone))
	return d.finish(say("zone-add-shard", "shard", a.Shard, "zone", a.Zone),
		Undo{Possible: true, Text: say("zone-add-shard", "shard", a.Shard, "zone", a.Zone), Kind: ZoneRemoveShard, Args: Args{Shard: a.Shard, Zone: a.Zone}})
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
		d.check(Check{ID: "zone", Verdict: Block, Text: say("zone.notMember", "shard", a.Shard, "zone", a.Zone), Source: d.fromTable(topology.PartShards)})
	case len(ranges) > 0 && slices.Equal(d.members(a.Zone), []string{a.Shard}):
		d.check(Check{ID: "zone", Verdict: Block, Text: say("zone.last", "shard", a.Shard, "zone", a.Zone, "ranges", count(len(ranges))), Source: d.fromRule()})
	}
	d.removeZone(a.Shard, a.Zone)
	d.checkConsequence(a.Zone, ranges)
	return d.finish(say("zone-remove-shard", "shard", a.Shard, "zone", a.Zone),
		Undo{Possible: true, Text: say("zone-remove-shard", "shard", a.Shard, "zone", a.Zone), Kind: ZoneAddShard, Args: Args{Shard: a.Shard, Zone: a.Zone}})
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
