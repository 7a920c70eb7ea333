package mapped

import (
	"slices"
	"sort"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// firstZone is the first range that does not end before a position.
func (f *bandFigures) firstZone(at int) int {
	return sort.Search(len(f.zones), func(i int) bool { return f.zones[i].To > at })
}

// outside tells whether a chunk of [from, to) is on a shard without the chunk's zone.
func (f *bandFigures) outside(c *topology.Collection, sum *topology.Tally, from, to int) bool {
	for i := f.firstZone(from); i < len(f.zones) && f.zones[i].From < to; i++ {
		z := f.zones[i]
		first, end := z.Whole()
		if first, end = max(first, from), min(end, to); first >= end {
			continue
		}
		in := sum
		if first != from || end != to {
			in = &topology.Tally{}
			c.Chunks.Tally(in, first, end)
		}
		for shard, n := range in.ByShard {
			if n > 0 && !z.Allowed[shard] {
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
			from, to := z.Whole()
			c.Chunks.Tally(&in, from, to)
			for shard, n := range in.ByShard {
				if !z.Allowed[shard] {
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
	var met []answer.ZoneOverlap
	for i := f.firstZone(from); i < len(f.zones) && f.zones[i].From < to; i++ {
		met = append(met, f.zones[i])
	}
	if more = max(len(met)-most, 0); more > 0 {
		slices.SortStableFunc(met, func(a, b answer.ZoneOverlap) int { return (b.To - b.From) - (a.To - a.From) })
		met = met[:most]
		slices.SortFunc(met, func(a, b answer.ZoneOverlap) int { return a.From - b.From })
	}
	return answer.Map(met, func(z answer.ZoneOverlap) api.MapZone { return mapZone(v, c.NS, z) }), more
}

func mapZone(v MapView, ns topology.Namespace, z answer.ZoneOverlap) api.MapZone {
	out := api.MapZone{From: float64(z.From), To: float64(z.To), Name: z.Zone}
	if z.CutFrom {
		out.From += 0.5
	}
	if z.CutTo {
		out.To -= 0.5
	}
	if out.From >= out.To { // both borders cut one chunk
		out.From, out.To = float64(z.From)+0.25, float64(z.From)+0.75
	}
	if id, pinned := answer.PinnedBy(z.Zone); pinned {
		out.Project, out.Pin = id, v.projectNameOf(ns.Database(), id)
	}
	return out
}
