package web

import (
	"maps"
	"slices"
	"strconv"

	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// zoneShards lists the shards that carry each zone.
func zoneShards(t *topology.Table) map[string][]string {
	out := map[string][]string{}
	for _, s := range t.Shards {
		for _, z := range s.Zones {
			out[z] = append(out[z], s.Name)
		}
	}
	return out
}

// rangeState looks at the chunks that meet one zone range.
func rangeState(c *topology.Collection, z topology.ZoneRange, carried map[string][]string) (wrong, cut, chunks int, on []string) {
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

// zonesView shows which ranges are bound to which shards, and where not.
func zonesView(v View) templates.Zones {
	m := templates.Zones{State: partState(v, topology.PartZones), Level: "ok"}
	t, r := v.Table, refsOf(v.Table)
	carried := zoneShards(t)
	ranges := map[string]int{}
	for _, z := range t.Zones {
		ranges[z.Zone]++
	}
	names := map[string]bool{}
	for z := range carried {
		names[z] = true
	}
	for z := range ranges {
		names[z] = true
	}
	for _, z := range slices.Sorted(maps.Keys(names)) {
		row := templates.ZoneRow{Name: z, Ranges: ranges[z], Pin: pinView(v, z)}
		for _, s := range carried[z] {
			row.Shards = append(row.Shards, r.of(s))
		}
		if len(row.Shards) == 0 {
			row.Warn = words.T("zones.noshard")
		}
		m.Zones = append(m.Zones, row)
	}
	m.Groups = zoneGroups(v, r, carried)
	broken := problemsOf(v.problems(), zoneRule)
	m.Violations = problemList(v, broken)
	switch {
	case len(m.Violations) > 0:
		if m.Level = "note"; broken[0].Severity == rules.Critical { // greatest first
			m.Level = "bad"
		}
		m.Summary = words.Plural("zones.broken", int64(len(m.Violations)), "n", strconv.Itoa(len(m.Violations)))
	case len(m.Zones) > 0:
		m.Summary = words.T("zones.fine")
	case m.State.Code == "":
		m.State = templates.State{Code: "empty", Title: words.T("zones.none"), Detail: words.T("zones.none.detail")}
	}
	return m
}

// zoneGroups are the ranges by collection. Bounds of a collection that is not
// sharded (yet) cannot be completed and are shown as they were written.
func zoneGroups(v View, r refs, carried map[string][]string) []templates.ZoneGroup {
	var out []templates.ZoneGroup
	for _, z := range v.Table.Zones {
		c := v.Table.Collection(z.NS)
		if len(out) == 0 || out[len(out)-1].NS != string(z.NS) {
			g := templates.ZoneGroup{NS: string(z.NS), Key: words.T("zones.notsharded")}
			if c != nil {
				g.Sharded, g.Key, g.URL = true, c.Key.String(), collectionURL(z.NS)
			}
			out = append(out, g)
		}
		row := templates.ZoneRangeRow{Zone: z.Zone, Min: boundOf(v.Table, string(z.NS), z.RawMin), Max: boundOf(v.Table, string(z.NS), z.RawMax)}
		if c == nil {
			row.Problem = words.T("zones.notsharded")
		} else {
			wrong, cut, chunks, on := rangeState(c, z, carried)
			row.Chunks = words.Plural("chunks", int64(chunks), "n", format.Count(int64(chunks)))
			for _, s := range on {
				row.OnShards = append(row.OnShards, r.of(s))
			}
			switch {
			case len(carried[z.Zone]) == 0:
				row.Problem = words.T("zones.noshard")
			case wrong > 0:
				row.Problem = words.Plural("zones.wrong", int64(wrong), "n", format.Count(int64(wrong)))
			case cut > 0:
				row.Problem = words.Plural("zones.cut", int64(cut), "n", format.Count(int64(cut)))
			}
		}
		out[len(out)-1].Ranges = append(out[len(out)-1].Ranges, row)
	}
	return out
}
