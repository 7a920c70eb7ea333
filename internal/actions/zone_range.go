package actions

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ZoneSetRange gives a range of keys to a zone, or changes the one range of that
// zone, or of these bounds, that it meets.
const ZoneSetRange Kind = "zone-set-range"

func describeZoneSetRange() Description {
	const help = "A shard key or its first fields, as Extended JSON."
	return Description{
		Kind:      ZoneSetRange,
		Title:     "Give a range to a zone",
		Lead:      "The balancer keeps the range on the zone’s shards.",
		Proof:     "The range belongs to the zone.",
		Undo:      "Removing the range, or setting it as it was. What the balancer has moved meanwhile stays there.",
		Arguments: []Argument{argNS.needed(), argZone.needed(), argMin.needed().help(help), argMax.needed().help(help)},
		plan:      planZoneSetRange,
	}
}

func planZoneSetRange(d *draftBuilder) (Draft, Args, error) {
	s, a, c := d.s, d.a, d.c
	lo, err := s.rangeEnd(c, "min", a.Min)
	if err != nil {
		return Draft{}, a, err
	}
	hi, err := s.rangeEnd(c, "max", a.Max)
	if err != nil {
		return Draft{}, a, err
	}
	if lo.Compare(hi) >= 0 {
		return Draft{}, a, fault.New(fault.Invalid,
			"The range ends before it begins: the argument \"min\" must be below \"max\". Fields that are left out count as MinKey in both.")
	}
	d.a.Min, d.a.Max = d.doc(c, lo), d.doc(c, hi)
	undo := Undo{Possible: true, Text: message.New("zone-set-range",
		"The range is removed from the zone {zone} again. Chunks that the balancer has moved by then stay "+
			"where they are.",
		message.Zone("zone", a.Zone)), Kind: ZoneRemoveRange, Args: Args{NS: c.NS, Zone: a.Zone, Min: d.a.Min, Max: d.a.Max}}
	met := meeting(d.ranges(c.NS), lo, hi)
	switch {
	case len(met) == 1 && met[0].Zone == a.Zone && met[0].Min.Compare(lo) == 0 && met[0].Max.Compare(hi) == 0:
		d.block("zone", d.fromTable(topology.PartZones), message.New("zone.ranged",
			"The zone {zone} already has exactly this range.", message.Zone("zone", a.Zone)))
	case len(met) == 1 && (met[0].Zone == a.Zone || met[0].Min.Compare(lo) == 0 && met[0].Max.Compare(hi) == 0):
		d.checkPrefix(met[0])
		d.checkGap()
		d.removeRange(met[0])
		d.setRange(c, lo, hi, a.Zone)
		undo.Kind, undo.Args = "", Args{}
	case len(met) > 0:
		d.overlaps(c, met[0])
	default:
		d.setRange(c, lo, hi, a.Zone)
	}
	if len(d.members(a.Zone)) == 0 {
		d.block("zone", d.fromTable(topology.PartShards), message.New("zone.noShard",
			"The zone {zone} has no shard. Add one first.", message.Zone("zone", a.Zone)))
	}
	if hi.Compare(c.Key.Max()) < 0 && firstIsMax(c, hi) {
		d.warn("zone", d.fromRule(), message.New("zone.sliver",
			"The range ends before the end of the key space: fields that are left out count as MinKey. Give "+
				"MaxKey in every field of {key} to reach the end.",
			message.Text("key", c.Key.String())))
	}
	d.checkConsequence(a.Zone, []topology.ZoneRange{{NS: c.NS, Zone: a.Zone, Min: lo, Max: hi}})
	return d.finish(message.New("zone-set-range",
		"Assign {min} → {max} of {ns} to the zone {zone}.",
		message.Namespace("ns", c.NS), message.Zone("zone", a.Zone), message.Key("min", c.Key.Display(lo)),
		message.Key("max", c.Key.Display(hi))), undo)
}

// rangeEnd reads an end of a zone range; the last fields may be missing, and
// those that are there are of the type that rows have.
func (s Situation) rangeEnd(c *topology.Collection, name string, doc bson.Raw) (key, error) {
	if doc == nil {
		return key{}, missing(ZoneSetRange, name, "a shard key or its first fields")
	}
	k, err := c.Key.PrefixBound(doc)
	if err != nil {
		return key{}, fault.Wrap(
			fault.Invalid,
			err,
			"The argument %q is no shard key of %s: it needs the first fields of %s, in that order, hashed ones as NumberLong.",
			name,
			string(c.NS),
			c.Key,
		)
	}
	fields, err := doc.Elements()
	if err != nil {
		return key{}, fault.Wrap(fault.Invalid, err, "The argument %q is no document.", name)
	}
	return k, s.typed(c, name, k, len(fields))
}

// firstIsMax: {p: MaxKey} is completed to {p: MaxKey, …: MinKey}, which is not
// the end of the key space.
func firstIsMax(c *topology.Collection, k key) bool {
	v, err := c.Key.Values(k)
	return err == nil && v[0].Type == bson.TypeMaxKey
}

// checkGap: a range is changed by taking it away and setting it anew.
func (d *draftBuilder) checkGap() {
	if b := d.s.Table.Balancer; !b.Known || b.Enabled() {
		d.warn("zone", d.fromRule(), message.New("zone.gap",
			"The range is removed and set again. In between the balancer may move chunks; turn it off first if "+
				"that matters."))
	}
}

// ZoneRemoveRange takes a range from its zone. The bounds are the range's own, as
// stored or complete; the collection may be gone.
const ZoneRemoveRange Kind = "zone-remove-range"

func describeZoneRemoveRange() Description {
	return Description{
		Kind:  ZoneRemoveRange,
		Title: "Take a range from a zone",
		Lead:  "The range may then be on any shard.",
		Proof: "No zone has the range.",
		Undo:  "Giving the range to the zone.",
		Arguments: []Argument{argNS.of(TypeNamespace).needed(), argZone.about(),
			argMin.needed().about().help("The lower bound of a zone range, as Extended JSON."),
			argMax.needed().about().help("The upper bound of a zone range, as Extended JSON.")},
		plan: planZoneRemoveRange,
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
	d.checkPrefix(z)
	d.removeRange(z)
	d.pass("consequence", d.fromRule(), message.New("consequence.unpin",
		"This alone moves nothing. The balancer may move chunks later, when it finds a shard too full."))
	undo := Undo{Possible: true, Text: message.New(
		"zone-remove-range",
		"The range is assigned to the zone {zone} again.",
		message.Zone("zone", z.Zone),
	), Kind: ZoneSetRange, Args: Args{NS: z.NS, Zone: z.Zone, Min: z.RawMin, Max: z.RawMax}}
	if !s.settable(z) {
		undo.Kind, undo.Args = "", Args{} // only the undo of the run gives it back, as it was
	}
	return d.finish(message.New("zone-remove-range", "Remove {min} → {max} of {ns} from the zone {zone}.",
		append([]message.Fact{message.Namespace("ns", z.NS), message.Zone("zone", z.Zone)}, d.rangeFacts(z)...)...), undo)
}

// settable tells whether a plan of its own could set a range with these bounds.
func (s Situation) settable(z topology.ZoneRange) bool {
	c := s.Table.Collection(z.NS)
	if c == nil {
		return false
	}
	_, errLo := s.rangeEnd(c, "min", z.RawMin)
	_, errHi := s.rangeEnd(c, "max", z.RawMax)
	return errLo == nil && errHi == nil
}

// rangeFacts are the bounds of a range; those that do not fit the shard key are shown as stored.
func (d *draftBuilder) rangeFacts(z topology.ZoneRange) []message.Fact {
	if c := d.s.Table.Collection(z.NS); c != nil && !z.Min.IsZero() {
		return []message.Fact{message.Key("min", c.Key.Display(z.Min)), message.Key("max", c.Key.Display(z.Max))}
	}
	return []message.Fact{message.Key("min", z.RawMin.String()), message.Key("max", z.RawMax.String())}
}

// rangeNamed finds the range with these bounds: byte by byte as it is stored, or
// of the same keys.
func (s Situation) rangeNamed(a Args) (topology.ZoneRange, bool) {
	zones := s.Table.ZonesOf(a.NS)
	if z, ok := rangeWith(zones, a.Min, a.Max); ok {
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
