package actions

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// isInZone reports whether a shard will be in a zone. Every shard is in the zone "".
func (d *plannedCluster) isInZone(shard, zone string) bool {
	s := d.shard(shard)
	return s != nil && (zone == "" || slices.Contains(s.Zones, zone))
}

// members returns the shards that will be in a zone.
func (d *plannedCluster) members(zone string) []string {
	var out []string
	for _, s := range d.shards {
		if slices.Contains(s.Zones, zone) {
			out = append(out, s.Name)
		}
	}
	return out
}

// addZone plans to add a shard to a zone, unless it is in it already.
func (d *draftBuilder) addZone(shard, zone string) {
	if d.isInZone(shard, zone) {
		return
	}
	d.step(operation.Step{Op: operation.OpAddZone, Shard: shard, Zone: zone,
		Needs: []operation.Fact{shardExists(shard), inZone(shard, zone, false)}, Proof: []operation.Fact{inZone(shard, zone, true)}})
	s := d.shard(shard)
	s.Zones = append(s.Zones, zone)
}

func (d *draftBuilder) removeZone(shard, zone string) {
	if !d.isInZone(shard, zone) {
		return
	}
	d.step(operation.Step{Op: operation.OpRemoveZone, Shard: shard, Zone: zone,
		Needs: []operation.Fact{shardExists(shard), inZone(shard, zone, true)}, Proof: []operation.Fact{inZone(shard, zone, false)}})
	s := d.shard(shard)
	s.Zones = slices.DeleteFunc(s.Zones, func(z string) bool { return z == zone })
}

// setRange plans to assign a range of complete keys to a zone that has a shard.
func (d *draftBuilder) setRange(c *topology.Collection, lo, hi shardkey.Key, zone string) {
	rawLo, rawHi := d.doc(c, lo), d.doc(c, hi)
	s := operation.Step{Op: operation.OpSetRange, NS: c.NS, Min: rawLo, Max: rawHi, Zone: zone,
		Proof: []operation.Fact{zoneOfRange(c.NS, rawLo, rawHi, zone)}}
	s.Needs = []operation.Fact{sameCollection(c), overlapCount(c.NS, rawLo, rawHi, 0)}
	for _, m := range d.members(zone) {
		s.Needs = append(s.Needs, inZone(m, zone, true))
	}
	d.step(s)
	all := append(slices.Clone(d.ranges(c.NS)), topology.ZoneRange{NS: c.NS, Zone: zone, Min: lo, Max: hi, RawMin: rawLo, RawMax: rawHi})
	slices.SortFunc(all, func(a, b topology.ZoneRange) int { return a.Min.Compare(b.Min) })
	d.zones[c.NS] = all
}

// removeRange plans to remove the range with exactly these bounds, as stored.
func (d *draftBuilder) removeRange(z topology.ZoneRange) {
	s := operation.Step{Op: operation.OpRemoveRange, NS: z.NS, Min: z.RawMin, Max: z.RawMax, Zone: z.Zone,
		Needs: []operation.Fact{zoneOfRange(z.NS, z.RawMin, z.RawMax, z.Zone)},
		Proof: []operation.Fact{zoneOfRange(z.NS, z.RawMin, z.RawMax, "")}}
	if c := d.s.Table.Collection(z.NS); c != nil {
		s.Needs = append([]operation.Fact{sameCollection(c)}, s.Needs...)
	}
	d.step(s)
	d.zones[z.NS] = slices.DeleteFunc(slices.Clone(d.ranges(z.NS)), func(o topology.ZoneRange) bool {
		return string(o.RawMin) == string(z.RawMin) && string(o.RawMax) == string(z.RawMax)
	})
}

// rangeWithBounds finds the zone range with exactly these bounds, as stored.
func rangeWithBounds(zones []topology.ZoneRange, lo, hi bson.Raw) (topology.ZoneRange, bool) {
	for _, z := range zones {
		if string(z.RawMin) == string(lo) && string(z.RawMax) == string(hi) {
			return z, true
		}
	}
	return topology.ZoneRange{}, false
}

// awaitAllOn plans to wait until the balancer has moved a range to one shard.
func (d *draftBuilder) awaitAllOn(k *futureChunks, lo, hi shardkey.Key, to string) {
	d.applyZone(k, lo, hi, func(string) string { return to })
	rawLo, rawHi := d.doc(k.c, lo), d.doc(k.c, hi)
	d.step(operation.Step{Op: operation.OpAwait, NS: k.c.NS, Min: rawLo, Max: rawHi, Shard: to,
		Needs: []operation.Fact{sameCollection(k.c)}, Proof: []operation.Fact{coveredBy(k.c.NS, rawLo, rawHi, to)}})
}

// awaitNoneOn plans to wait until the balancer has moved a range away from a shard.
func (d *draftBuilder) awaitNoneOn(k *futureChunks, lo, hi shardkey.Key, shard string, next func(from string) string) {
	d.applyZone(k, lo, hi, next)
	rawLo, rawHi := d.doc(k.c, lo), d.doc(k.c, hi)
	d.step(operation.Step{Op: operation.OpAwait, NS: k.c.NS, Min: rawLo, Max: rawHi, Shard: shard,
		Needs: []operation.Fact{sameCollection(k.c)}, Proof: []operation.Fact{noneOn(k.c.NS, rawLo, rawHi, shard)}})
}

// applyZone changes the planned chunks as the balancer will for a zone range: it splits
// at the ends of the range, and moves the chunks that are on other shards. Adjacent
// chunks from one shard become one transfer.
func (d *draftBuilder) applyZone(k *futureChunks, lo, hi shardkey.Key, next func(from string) string) {
	for _, at := range []shardkey.Key{lo, hi} {
		if at.Compare(k.c.Key.Max()) < 0 && k.cut(at) {
			d.cuts++
		}
	}
	d.dependsOnFlags(k.c, lo, hi)
	parts := k.within(lo, hi)
	for i := 0; i < len(parts); {
		run := transfer{k: k, lo: parts[i].Min, from: parts[i].Shard, to: next(parts[i].Shard), awaited: true}
		for ; i < len(parts) && parts[i].Shard == run.from; i++ {
			run.hi, run.chunks, run.jumbo = parts[i].Max, run.chunks+1, run.jumbo || parts[i].Jumbo
			if run.to != run.from {
				parts[i].Shard = run.to
			}
		}
		if run.to != run.from {
			k.donated[run.from] = true
			d.moves = append(d.moves, run)
		}
	}
	k.replace(parts...)
}
