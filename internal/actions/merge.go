package actions

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Merge merges adjacent chunks of one shard.
const Merge Kind = "merge"

func describeMerge() Description {
	return Description{
		Kind:    Merge,
		AnyTime: true,
		Title:   "Merge chunks",
		Lead:    "Adjacent chunks of one shard become one chunk. No data moves.",
		Proof:   "One chunk has exactly these bounds.",
		Undo:    "Splits the chunk at the same bounds again.",
		Arguments: []Argument{argNS.needed(),
			argBounds.help("The bounds of the first and the last chunk, [min, max]; the same as min and max."),
			argMin.needed().about().or("bounds").help("The lower bound of the first chunk, as Extended JSON."),
			argMax.needed().about().or("bounds").help("The upper bound of the last chunk, as Extended JSON.")},
		rewrite:   mergeBounds,
		InBatches: true,
		Sends:     []operation.Op{operation.OpMerge},
		plan:      planMerge,
	}
}

// mergeBounds accepts min and max instead of bounds.
func mergeBounds(a *Args) error {
	if a.Min == nil && a.Max == nil {
		return nil
	}
	if a.Bounds[0] != nil || a.Bounds[1] != nil {
		return fault.New(fault.Invalid, "The argument \"bounds\" means the same as \"min\" and \"max\"; give only one of them.")
	}
	a.Bounds, a.Min, a.Max = [2]bson.Raw{a.Min, a.Max}, nil, nil
	return nil
}

func planMerge(d *draftBuilder) (Draft, Args, error) {
	s, a, c := d.s, d.a, d.c
	lo, hi, err := s.rangeBounds(c, Merge, a.Bounds)
	if err != nil {
		return Draft{}, a, err
	}
	k := d.future(c)
	parts := k.within(lo, hi)
	if parts[0].Min.Compare(lo) != 0 || parts[len(parts)-1].Max.Compare(hi) != 0 {
		return Draft{}, a, fault.New(fault.NotFound,
			"The argument \"bounds\" does not begin and end at bounds of chunks of %s.", string(c.NS))
	}
	if len(parts) < 2 {
		return Draft{}, a, fault.New(fault.Invalid, "The argument \"bounds\" is a single chunk: there is nothing to merge.")
	}
	d.a.Bounds = d.boundsAsDocuments(c, lo, hi)
	d.dependsOnFlags(c, lo, hi)
	d.add(d.checkMergeable(c, parts, lo, hi))
	if !d.blocked() {
		d.merge(k, lo, hi)
	}
	undo := Undo{Possible: true, Text: message.New("merge",
		"Splits the chunk into the {chunks} chunks again. Their jumbo flags and history are lost.",
		message.Count("chunks", len(parts)))}
	if len(parts) == 2 {
		undo.Kind, undo.Args = Split, Args{NS: c.NS, At: d.doc(c, parts[1].Min)}
	}
	return d.finish(message.New("merge",
		"Merge {chunks} chunks of {ns} on {shard}, {min} → {max}, into one.",
		message.Namespace("ns", c.NS), message.Count("chunks", len(parts)), message.Key("min", c.Key.Display(lo)),
		message.Key("max", c.Key.Display(hi)), message.Shard("shard", parts[0].Shard)), undo)
}

// checkMergeable checks that the chunks are on one shard and in one zone, and that the
// result is not too big to move.
func (d *draftBuilder) checkMergeable(c *topology.Collection, parts []futureChunk, lo, hi shardkey.Key) (out findings) {
	var shards []string
	jumbo := 0
	for _, p := range parts {
		shards = append(shards, p.Shard)
		if p.Jumbo {
			jumbo++
		}
	}
	if shards = natural.Unique(shards); len(shards) > 1 {
		out.block("neighbours", d.fromTable(topology.PartRouting), message.New("neighbours.apart",
			"The chunks are on several shards ({shards}); only chunks on the same shard can be merged. Move "+
				"them together first.",
			message.Text("shards", operation.Joined(shards))))
	} else {
		out.pass("neighbours", d.fromTable(topology.PartRouting), message.New("neighbours.together",
			"All of these chunks are on {shard}.", message.Shard("shard", shards[0])))
	}
	if edge, zone := d.edgeInside(c, lo, hi); zone != "" {
		out.block("zone-overlap", d.fromTable(topology.PartZones), message.New("zone-overlap.edge",
			"A range of the zone {zone} begins or ends at {at}, inside the merged chunk: the balancer would "+
				"split it there again.",
			message.Zone("zone", zone), message.Key("at", c.Key.Display(edge))))
	}
	if jumbo > 0 {
		flagged := message.Plural(jumbo, "One of these chunks is flagged as jumbo.", "{chunks} of these chunks are flagged as jumbo.")
		text := message.New("jumbo.merged",
			flagged+" The merged chunk keeps the flag of the first one.", message.Count("chunks", jumbo))
		if d.s.Release.AtLeast(7, 0, 0) {
			text.Code = "jumbo.mergedLater"
			text.Pattern = flagged + " The result may be too big to move."
		}
		out.warn("jumbo", d.fromRule(), text)
	}
	if facts, tooBig, known := d.tooBigAt(c, parts[0].Shard, lo, hi); known && tooBig {
		out.warn("size", d.fromTable(topology.PartSizes), message.New("size.merged",
			"The merged chunk will have about {bytes}; a chunk of more than {limit} cannot be moved.", facts[:2]...))
	}
	return out
}

// edgeInside finds a bound of a zone range that is strictly inside a range.
func (d *plannedCluster) edgeInside(c *topology.Collection, lo, hi shardkey.Key) (shardkey.Key, string) {
	for _, z := range operation.OverlappingRanges(d.ranges(c.NS), lo, hi) {
		for _, at := range []shardkey.Key{z.Min, z.Max} {
			if at.Compare(lo) > 0 && at.Compare(hi) < 0 {
				return at, z.Zone
			}
		}
	}
	return shardkey.Key{}, ""
}
