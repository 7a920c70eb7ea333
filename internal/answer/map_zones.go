package answer

import (
	"slices"
	"sort"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// firstZone is the first range that does not end before a position.
func (f *bandFigures) firstZone(at int) int {
	return sort.Search(len(f.zones), func(i int) bool { return f.zones[i].to > at })
}

// outside tells whether a chunk of [from, to) is on a shard without the chunk's zone.
func (f *bandFigures) outside(c *topology.Collection, sum *topology.Tally, from, to int) bool {
	for i := f.firstZone(from); i < len(f.zones) && f.zones[i].from < to; i++ {
		z := f.zones[i]
		first, end := z.whole()
		if first, end = max(first, from), min(end, to); first >= end {
			continue
		}
		in := sum
		if first != from || end != to {
			in = &topology.Tally{}
			c.Chunks.Tally(in, first, end)
		}
		for shard, n := range in.ByShard {
			if n > 0 && !z.allowed[shard] {
				return true
			}
		}
	}
	return false
}

// countOutside is how many chunks are on a shard without their zone.
func (f *bandFigures) countOutside(c *topology.Collection) int {
	f.outsideOnce.Do(func() {
		var in topology.Tally
		for _, z := range f.zones {
			from, to := z.whole()
			c.Chunks.Tally(&in, from, to)
			for shard, n := range in.ByShard {
				if !z.allowed[shard] {
					f.outsideCount += n
				}
			}
		}
	})
	return f.outsideCount
}

// tileZones is how many zone ranges a tile lists: more names nobody could read.
const tileZones = 200

// zonesIn are the ranges that meet [from, to), in key order; of more than most, the widest.
func (f *bandFigures) zonesIn(v MapView, c *topology.Collection, from, to, most int) (out []api.MapZone, more int) {
	var met []zoneOverlap
	for i := f.firstZone(from); i < len(f.zones) && f.zones[i].from < to; i++ {
		met = append(met, f.zones[i])
	}
	if more = max(len(met)-most, 0); more > 0 {
		slices.SortStableFunc(met, func(a, b zoneOverlap) int { return (b.to - b.from) - (a.to - a.from) })
		met = met[:most]
		slices.SortFunc(met, func(a, b zoneOverlap) int { return a.from - b.from })
	}
	return each(met, func(z zoneOverlap) api.MapZone { return mapZone(v, c.NS, z) }), more
}

func mapZone(v MapView, ns topology.Namespace, z zoneOverlap) api.MapZone {
	out := api.MapZone{From: float64(z.from), To: float64(z.to), Name: z.zone}
	if z.cutFrom {
		out.From += 0.5
	}
	if z.cutTo {
		out.To -= 0.5
	}
	if out.From >= out.To { // both borders cut one chunk
		out.From, out.To = float64(z.from)+0.25, float64(z.from)+0.75
	}
	if id, pinned := pinnedBy(z.zone); pinned {
		out.Project, out.Pin = id, v.projectNameOf(ns.Database(), id)
	}
	return out
}
