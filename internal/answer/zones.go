package answer

import (
	"maps"
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// zoneNames are the zones that any shard or any range names, sorted.
func ZoneNames(t *topology.Table) []string {
	found := map[string]bool{}
	for _, sh := range t.Shards {
		for _, z := range sh.Zones {
			found[z] = true
		}
	}
	for _, z := range t.Zones {
		found[z.Zone] = true
	}
	return slices.Sorted(maps.Keys(found))
}

func ZoneOf(v View, zone string) api.Zone {
	t := v.Table
	out := api.Zone{Zone: zone, Shards: []string{}, Ranges: []api.ZoneRange{}, PinTerms: PinTermsOf(v, zone)}
	for _, sh := range t.Shards {
		if slices.Contains(sh.Zones, zone) {
			out.Shards = append(out.Shards, sh.Name)
		}
	}
	for _, z := range t.Zones {
		if z.Zone == zone {
			out.Ranges = append(out.Ranges, ZoneRangeOf(v, z))
		}
	}
	return out
}

// zoneRangeOf counts what a range holds and what of it is not where it should
// be; that is the balancer's remaining work.
func ZoneRangeOf(v View, z topology.ZoneRange) api.ZoneRange {
	t := v.Table
	out := api.ZoneRange{Zone: z.Zone, NS: string(z.NS), Min: v.document(z.RawMin), Max: v.document(z.RawMax)}
	c := t.Collection(z.NS)
	if c == nil || z.Min.IsZero() || z.Max.IsZero() {
		return out
	}
	out.Min, out.Max = KeyOf(c.Key, z.Min), KeyOf(c.Key, z.Max)
	inside := map[string]bool{}
	for _, sh := range t.Shards {
		inside[sh.Name] = slices.Contains(sh.Zones, z.Zone)
	}
	var chunks, outside, straddling int
	for i, ch := range c.Chunks.Range(c.Chunks.Overlap(shardkey.Range{Min: z.Min, Max: z.Max})) {
		chunks++
		if !inside[ch.Shard] {
			outside++
		}
		if _, cut := t.ZoneOf(c, i); cut {
			straddling++
		}
	}
	out.Chunks, out.Outside, out.Straddling = &chunks, &outside, &straddling
	return out
}

// zoneShards lists the shards that carry each zone.
func ZoneShards(t *topology.Table) map[string][]string {
	out := map[string][]string{}
	for _, s := range t.Shards {
		for _, z := range s.Zones {
			out[z] = append(out[z], s.Name)
		}
	}
	return out
}

// rangeState looks at the chunks that meet one zone range.
func RangeState(c *topology.Collection, z topology.ZoneRange, carried map[string][]string) (wrong, cut, chunks int, on []string) {
	if z.Min.IsZero() {
		return 0, 0, 0, nil
	}
	from, to := c.Chunks.Overlap(shardkey.Range{Min: z.Min, Max: z.Max})
	seen := map[string]bool{}
	for i := from; i < to; i++ {
		owner := c.Chunks.Owner(i)
		seen[owner] = true
		edge := i == from || i == to-1
		if edge {
			if ch := c.Chunks.At(i); ch.Min.Compare(z.Min) < 0 || ch.Max.Compare(z.Max) > 0 {
				cut++
				continue
			}
		}
		if !slices.Contains(carried[z.Zone], owner) {
			wrong++
		}
	}
	return wrong, cut, to - from, slices.Sorted(maps.Keys(seen))
}
