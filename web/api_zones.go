package web

import (
	"maps"
	"net/http"
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func (s *Site) apiZones(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	if err := known(v, topology.PartZones, "Zones"); err != nil {
		return err
	}
	out, err := pageOf(r, zoneNames(v.Table),
		func(zone string) string { return zone },
		func(zone string) api.Zone { return zoneOf(v, zone) })
	if err != nil {
		return err
	}
	out.AsOf, out.Stale = asOf(v, topology.PartZones, topology.PartShards)
	return writeJSON(w, http.StatusOK, out)
}

// zoneNames are the zones that any shard or any range names, sorted.
func zoneNames(t *topology.Table) []string {
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

func zoneOf(v View, zone string) api.Zone {
	t := v.Table
	out := api.Zone{Zone: zone, Shards: []string{}, Ranges: []api.ZoneRange{}, PinTerms: pinTermsOf(v, zone)}
	for _, sh := range t.Shards {
		if slices.Contains(sh.Zones, zone) {
			out.Shards = append(out.Shards, sh.Name)
		}
	}
	for _, z := range t.Zones {
		if z.Zone == zone {
			out.Ranges = append(out.Ranges, zoneRangeOf(v, z))
		}
	}
	return out
}

// zoneRangeOf counts what a range holds and what of it is not where it should
// be; that is the balancer's remaining work.
func zoneRangeOf(v View, z topology.ZoneRange) api.ZoneRange {
	t := v.Table
	out := api.ZoneRange{Zone: z.Zone, NS: string(z.NS), Min: v.document(z.RawMin), Max: v.document(z.RawMax)}
	c := t.Collection(z.NS)
	if c == nil || z.Min.IsZero() || z.Max.IsZero() {
		return out
	}
	out.Min, out.Max = keyOf(c.Key, z.Min), keyOf(c.Key, z.Max)
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
