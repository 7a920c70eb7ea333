package problems

import (
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Zones says which ranges are bound to which shards, and where chunks are elsewhere.
func Zones(v answer.View) api.Zones {
	out := api.Zones{State: answer.PartState(v, topology.PartZones), Items: []api.Zone{}}
	at := map[string]int{}
	for i, zone := range answer.ZoneNames(v.Table) {
		at[zone] = i
		out.Items = append(out.Items, api.Zone{
			Zone: zone, Shards: answer.NotNil(v.Table.CarriersOf(zone)), Ranges: []api.ZoneRange{}, PinTerms: answer.PinTermsOf(v, zone),
			Shown: v.ZoneName(zone),
		})
		out.Items[i].KeyProject = out.Items[i].Shown.KeyProject
	}
	ranges := slices.Clone(v.Table.Zones)
	slices.SortStableFunc(ranges, func(a, b topology.ZoneRange) int { return natural.Compare(a.NS, b.NS) })
	for _, z := range ranges {
		r := answer.ZoneRangeOf(v, z)
		item := &out.Items[at[z.Zone]]
		item.Ranges = append(item.Ranges, r)
		if n := len(out.Collections); n == 0 || out.Collections[n-1].NS != r.NS {
			out.Collections = append(out.Collections, answer.ZoneCollection(v.Table, z.NS))
		}
		c := &out.Collections[len(out.Collections)-1]
		c.Ranges = append(c.Ranges, r)
	}
	found := Problems(v)
	out.Problems = ProblemLines(v, ProblemsOf(found, zoneRule))
	s := found.SummaryOf(zoneRule)
	out.Level, out.Verdict = Headline(v, s)
	switch {
	case len(out.Problems) == 0 && len(out.Items) == 0:
		out.Verdict = ""
		if out.State.Code == "" {
			out.State = api.State{Code: "empty", Title: "There are no zones",
				Detail: v.Profile.Words("The balancer may place any chunk on any shard. " +
					"A zone keeps ranges of a shard key on some of the shards, for example to pin a project.")}
		}
	case s.Clear() && s.Dismissed == 0:
		out.Verdict = "Every chunk is in its zone"
	}
	return out
}
