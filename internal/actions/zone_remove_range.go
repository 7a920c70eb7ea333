package actions

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ZoneRemoveRange removes a range from its zone. The bounds must be those of the range,
// as stored or completed. The collection may no longer exist.
const ZoneRemoveRange Kind = "zone-remove-range"

func describeZoneRemoveRange() Description {
	return Description{
		Kind:  ZoneRemoveRange,
		Title: "Remove a range from a zone",
		Lead:  "The balancer may then place the range on any shard.",
		Proof: "No zone has the range.",
		Undo:  "Assigns the range to the zone again.",
		Arguments: []Argument{argNS.of(TypeNamespace).needed(), argZone.about(),
			argMin.needed().about().help("The lower bound of a zone range, as Extended JSON."),
			argMax.needed().about().help("The upper bound of a zone range, as Extended JSON.")},
		InBatches: true,
		Sends:     []operation.Op{operation.OpRemoveRange},
		plan:      planZoneRemoveRange,
	}
}

func planZoneRemoveRange(d *draftBuilder) (Draft, Args, error) {
	s, a := d.s, d.a
	z, ok := s.rangeNamed(a)
	if !ok {
		return Draft{}, a, fault.New(fault.NotFound,
			"The arguments \"min\" and \"max\" are not those of a zone range of %q.", string(a.NS))
	}
	if a.Zone != "" && a.Zone != z.Zone {
		return Draft{}, a, fault.New(fault.NotFound,
			"The argument \"zone\" is %q, and the range with these bounds belongs to another zone.", a.Zone)
	}
	d.a.Min, d.a.Max, d.a.Zone = z.RawMin, z.RawMax, z.Zone
	d.add(d.checkPrefix(z))
	d.removeRange(z)
	d.add(d.checkMovesNothing())
	undo := Undo{Possible: true, Kind: ZoneSetRange, Args: Args{NS: z.NS, Zone: z.Zone, Min: z.RawMin, Max: z.RawMax},
		Text: message.New("zone-remove-range", "Assigns the range to the zone {zone} again.", message.Zone("zone", z.Zone))}
	if !s.canBeSet(z) {
		undo.Kind, undo.Args = "", Args{} // no plan can set such a range; only the undo of the run restores it as it was
	}
	return d.finish(message.New("zone-remove-range", "Remove {min} → {max} of {ns} from the zone {zone}.",
		append([]message.Fact{message.Namespace("ns", z.NS), message.Zone("zone", z.Zone)}, d.rangeFacts(z)...)...), undo)
}

// canBeSet reports whether a plan could set a range with these bounds. Bounds of the
// wrong type cannot be set.
func (s Situation) canBeSet(z topology.ZoneRange) bool {
	c := s.Table.Collection(z.NS)
	if c == nil {
		return false
	}
	_, errLo := s.rangeEnd(c, "min", z.RawMin)
	_, errHi := s.rangeEnd(c, "max", z.RawMax)
	return errLo == nil && errHi == nil
}

// rangeFacts are the bounds of a range; bounds that do not fit the shard key are shown as stored.
func (d *plannedCluster) rangeFacts(z topology.ZoneRange) []message.Fact {
	if c := d.now.Collection(z.NS); c != nil && !z.Min.IsZero() {
		return []message.Fact{message.Key("min", c.Key.Display(z.Min)), message.Key("max", c.Key.Display(z.Max))}
	}
	return []message.Fact{message.Key("min", z.RawMin.String()), message.Key("max", z.RawMax.String())}
}

// rangeNamed finds the range with these bounds: byte by byte as stored, or after both
// are completed to full keys.
func (s Situation) rangeNamed(a Args) (topology.ZoneRange, bool) {
	zones := s.Table.ZonesOf(a.NS)
	if z, ok := rangeWithBounds(zones, a.Min, a.Max); ok {
		return z, true
	}
	c := s.Table.Collection(a.NS)
	if c == nil {
		return topology.ZoneRange{}, false
	}
	lo, errLo := c.Key.PrefixBound(a.Min)
	hi, errHi := c.Key.PrefixBound(a.Max)
	for _, z := range zones {
		if errLo == nil && errHi == nil && !z.Min.IsZero() && z.Min.Compare(lo) == 0 && z.Max.Compare(hi) == 0 {
			return z, true
		}
	}
	return topology.ZoneRange{}, false
}
