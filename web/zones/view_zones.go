package zones

import (
	"maps"
	"slices"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
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
			row.Warn = "no shard has this zone"
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
		m.Summary = message.Plural(int64(len(m.Violations)), strconv.Itoa(len(m.Violations))+" thing is not as the zones ask", strconv.Itoa(len(m.Violations))+" things are not as the zones ask")
	case len(m.Zones) > 0:
		m.Summary = "Every chunk is in its zone"
	case m.State.Code == "":
		m.State = templates.State{Code: "empty", Title: "There are no zones", Detail: "The balancer may place every chunk on every shard. A zone binds ranges of a shard key to some shards, for example to pin a project."}
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
			g := ZoneGroup{NS: string(z.NS), Key: "collection is not sharded"}
			if c != nil {
				g.Sharded, g.Key, g.URL = true, c.Key.String(), answer.CollectionURL(z.NS)
			}
			out = append(out, g)
		}
		row := ZoneRangeRow{Zone: z.Zone, Min: parts.BoundOf(v.Table, string(z.NS), z.RawMin), Max: parts.BoundOf(v.Table, string(z.NS), z.RawMax)}
		if c == nil {
			row.Problem = "collection is not sharded"
		} else {
			wrong, cut, chunks, on := answer.RangeState(c, z, carried)
			row.Chunks = message.Plural(int64(chunks), format.Count(int64(chunks))+" chunk", format.Count(int64(chunks))+" chunks")
			for _, s := range on {
				row.OnShards = append(row.OnShards, r.Of(s))
			}
			switch {
			case len(carried[z.Zone]) == 0:
				row.Problem = "no shard has this zone"
			case wrong > 0:
				row.Problem = message.Plural(int64(wrong), format.Count(int64(wrong))+" chunk elsewhere", format.Count(int64(wrong))+" chunks elsewhere")
			case cut > 0:
				row.Problem = message.Plural(int64(cut), format.Count(int64(cut))+" chunk straddles", format.Count(int64(cut))+" chunks straddle")
			}
		}
		out[len(out)-1].Ranges = append(out[len(out)-1].Ranges, row)
	}
	return out
}
