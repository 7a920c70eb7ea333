package actions

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ZoneSetRange assigns a range of keys to a zone. If it overlaps exactly one range, which
// has the same zone or the same bounds, it changes that range.
const ZoneSetRange Kind = "zone-set-range"

func describeZoneSetRange() Description {
	const help = "A shard key or its first fields, as Extended JSON."
	return Description{
		Kind:      ZoneSetRange,
		Title:     "Assign a range to a zone",
		Lead:      "The balancer keeps the range on the zone’s shards.",
		Proof:     "The range belongs to the zone.",
		Undo:      "Removes the range, or sets it as it was. Chunks that the balancer has moved by then stay where they are.",
		Arguments: []Argument{argNS.needed(), argZone.needed(), argMin.needed().help(help), argMax.needed().help(help)},
		InBatches: true,
		Sends:     []operation.Op{operation.OpSetRange},
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
			"The range ends before it begins: the argument \"min\" must be below \"max\". Omitted fields count as MinKey in both.")
	}
	d.a.Min, d.a.Max = d.doc(c, lo), d.doc(c, hi)
	undo := Undo{Possible: true, Text: message.New("zone-set-range",
		"Removes the range from the zone {zone}. Chunks that the balancer has moved by then stay where they are.",
		message.Zone("zone", a.Zone)), Kind: ZoneRemoveRange, Args: Args{NS: c.NS, Zone: a.Zone, Min: d.a.Min, Max: d.a.Max}}
	met := operation.OverlappingRanges(d.ranges(c.NS), lo, hi)
	switch {
	case len(met) == 1 && met[0].Zone == a.Zone && met[0].Min.Compare(lo) == 0 && met[0].Max.Compare(hi) == 0:
		d.block("zone", d.fromTable(topology.PartZones), message.New("zone.ranged",
			"The zone {zone} already has exactly this range.", message.Zone("zone", a.Zone)))
	case len(met) == 1 && (met[0].Zone == a.Zone || met[0].Min.Compare(lo) == 0 && met[0].Max.Compare(hi) == 0):
		d.add(d.checkPrefix(met[0]))
		d.add(d.checkTemporaryGap())
		d.removeRange(met[0])
		d.setRange(c, lo, hi, a.Zone)
		undo.Kind, undo.Args = "", Args{}
	case len(met) > 0:
		d.add(d.blockOverlap(c, met[0]))
	default:
		d.setRange(c, lo, hi, a.Zone)
	}
	if len(d.members(a.Zone)) == 0 {
		d.block("zone", d.fromTable(topology.PartShards), message.New("zone.noShard",
			"The zone {zone} has no shard. Add one first.", message.Zone("zone", a.Zone)))
	}
	if hi.Compare(c.Key.Max()) < 0 && firstIsMax(c, hi) {
		d.warn("zone", d.fromRule(), message.New("zone.sliver",
			"The range ends before the end of the key space, because omitted fields count as MinKey. To reach "+
				"the end, give MaxKey in every field of {key}.",
			message.Text("key", c.Key.String())))
	}
	d.add(d.checkConsequence(a.Zone, []topology.ZoneRange{{NS: c.NS, Zone: a.Zone, Min: lo, Max: hi}}))
	return d.finish(message.New("zone-set-range",
		"Assign {min} → {max} of {ns} to the zone {zone}.",
		message.Namespace("ns", c.NS), message.Zone("zone", a.Zone), message.Key("min", c.Key.Display(lo)),
		message.Key("max", c.Key.Display(hi))), undo)
}

// rangeEnd reads a bound of a zone range. The last fields may be omitted. The others must
// have the types that rows have.
func (s Situation) rangeEnd(c *topology.Collection, name string, doc bson.Raw) (key, error) {
	if doc == nil {
		return key{}, missing(ZoneSetRange, name, "a shard key or its first fields")
	}
	k, err := c.Key.PrefixBound(doc)
	if err != nil {
		return key{}, fault.Wrap(fault.Invalid, err,
			"The argument %q is not a shard key of %s: it needs the first fields of %s, in this order, hashed ones as NumberLong.",
			name, string(c.NS), c.Key)
	}
	fields, err := doc.Elements()
	if err != nil {
		return key{}, fault.Wrap(fault.Invalid, err, "The argument %q is not a document.", name)
	}
	return k, s.checkIDTypes(c, name, k, len(fields))
}

// firstIsMax reports whether the first field is MaxKey. {p: MaxKey} is completed to
// {p: MaxKey, …: MinKey}, which is not the end of the key space.
func firstIsMax(c *topology.Collection, k key) bool {
	v, err := c.Key.Values(k)
	return err == nil && v[0].Type == bson.TypeMaxKey
}

// checkTemporaryGap warns that changing a range means removing it and setting it again,
// so that for a moment it has no zone.
func (d *draftBuilder) checkTemporaryGap() (out findings) {
	if b := d.s.Table.Balancer; !b.Known || b.Enabled() {
		out.warn("zone", d.fromRule(), message.New("zone.gap",
			"The range is removed and then set again. In between, the balancer may move its chunks. Turn the "+
				"balancer off first if that matters."))
	}
	return out
}
