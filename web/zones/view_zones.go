package zones

import (
	"maps"
	"slices"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// zonesView shows which ranges are bound to which shards, and where not.
func ZonesView(v answer.View) Zones {
	m := Zones{State: parts.PartState(v, topology.PartZones), Level: "ok"}
	t, r := v.Table, parts.RefsOf(v.Table)
	carried := answer.ZoneShards(t)
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
		row := ZoneRow{Name: z, Ranges: ranges[z], Pin: parts.PinView(v, z)}
		for _, s := range carried[z] {
			row.Shards = append(row.Shards, r.Of(s))
		}
		if len(row.Shards) == 0 {
			row.Warn = words.T("zones.noshard")
		}
		m.Zones = append(m.Zones, row)
	}
	m.Groups = zoneGroups(v, r, carried)
	broken := answer.ProblemsOf(v.Problems(), answer.ZoneRule)
	m.Violations = parts.ProblemList(v, broken)
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
func zoneGroups(v answer.View, r parts.Refs, carried map[string][]string) []ZoneGroup {
	var out []ZoneGroup
	for _, z := range v.Table.Zones {
		c := v.Table.Collection(z.NS)
		if len(out) == 0 || out[len(out)-1].NS != string(z.NS) {
			g := ZoneGroup{NS: string(z.NS), Key: words.T("zones.notsharded")}
			if c != nil {
				g.Sharded, g.Key, g.URL = true, c.Key.String(), answer.CollectionURL(z.NS)
			}
			out = append(out, g)
		}
		row := ZoneRangeRow{Zone: z.Zone, Min: parts.BoundOf(v.Table, string(z.NS), z.RawMin), Max: parts.BoundOf(v.Table, string(z.NS), z.RawMax)}
		if c == nil {
			row.Problem = words.T("zones.notsharded")
		} else {
			wrong, cut, chunks, on := answer.RangeState(c, z, carried)
			row.Chunks = words.Plural("chunks", int64(chunks), "n", format.Count(int64(chunks)))
			for _, s := range on {
				row.OnShards = append(row.OnShards, r.Of(s))
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
