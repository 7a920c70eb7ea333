package actions

import (
	"slices"

	"shardboard/internal/topology"
)

// planZoneAddShard puts a shard into a zone. Takes shard and zone.
func planZoneAddShard(s Situation, a Args) (Draft, Args, error) {
	d, err := zoning(s, ZoneAddShard, a)
	if err != nil {
		return Draft{}, a, err
	}
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

// planZoneRemoveShard takes a shard out of a zone. Takes shard and zone.
func planZoneRemoveShard(s Situation, a Args) (Draft, Args, error) {
	d, err := zoning(s, ZoneRemoveShard, a)
	if err != nil {
		return Draft{}, a, err
	}
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

func zoning(s Situation, kind Kind, a Args) (*draftBuilder, error) {
	if err := a.only(kind, "shard", "zone"); err != nil {
		return nil, err
	}
	if _, err := shardOf(s.Table, kind, "shard", a.Shard); err != nil {
		return nil, err
	}
	if a.Zone == "" {
		return nil, missing(kind, "zone", "the name of a zone")
	}
	return newDraft(s, kind, a), nil
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
