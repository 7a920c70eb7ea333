package answer

import (
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// Zones says which ranges are bound to which shards, and where chunks are elsewhere.
func Zones(v View) api.Zones {
	out := api.Zones{State: PartState(v, topology.PartZones), Items: []api.Zone{}}
	at := map[string]int{}
	for i, zone := range ZoneNames(v.Table) {
		at[zone] = i
		out.Items = append(out.Items, api.Zone{
			Zone: zone, Shards: NotNil(v.Table.CarriersOf(zone)), Ranges: []api.ZoneRange{}, PinTerms: PinTermsOf(v, zone),
			Shown: v.ZoneName(zone),
		})
		out.Items[i].KeyProject = out.Items[i].Shown.KeyProject
	}
	ranges := slices.Clone(v.Table.Zones)
	slices.SortStableFunc(ranges, func(a, b topology.ZoneRange) int { return natural.Compare(a.NS, b.NS) })
	for _, z := range ranges {
		r := zoneRangeOf(v, z)
		item := &out.Items[at[z.Zone]]
		item.Ranges = append(item.Ranges, r)
		if n := len(out.Collections); n == 0 || out.Collections[n-1].NS != r.NS {
			out.Collections = append(out.Collections, zoneCollection(v.Table, z.NS))
		}
		c := &out.Collections[len(out.Collections)-1]
		c.Ranges = append(c.Ranges, r)
	}
	found := v.Problems()
	out.Problems = ProblemLines(v, ProblemsOf(found, zoneRule))
	s := found.SummaryOf(zoneRule)
	out.Level, out.Verdict = Headline(v, s)
	switch {
	case len(out.Problems) == 0 && len(out.Items) == 0:
		out.Verdict = ""
		if out.State.Code == "" {
			out.State = api.State{Code: "empty", Title: "There are no zones",
				Detail: "The balancer may place any chunk on any shard. " +
					"A zone keeps ranges of a shard key on some of the shards, for example to pin a project."}
		}
	case s.Clear() && s.Dismissed == 0:
		out.Verdict = "Every chunk is in its zone"
	}
	return out
}

func zoneCollection(t *topology.Table, ns topology.Namespace) api.ZoneCollection {
	out := api.ZoneCollection{NS: string(ns)}
	if c := t.Collection(ns); c != nil {
		out.Sharded, out.Key = true, c.Key.String()
	}
	return out
}

// zoneRangeOf counts what a range holds and what of it is not where it should
// be; that is the balancer's remaining work. Bounds of a collection that is not
// sharded (yet) cannot be completed and are given as they were written.
func zoneRangeOf(v View, z topology.ZoneRange) api.ZoneRange {
	t := v.Table
	out := api.ZoneRange{Zone: z.Zone, NS: string(z.NS), Min: v.document(z.RawMin), Max: v.document(z.RawMax),
		MinText: BoundDocumentText(t, z.NS, z.RawMin), MaxText: BoundDocumentText(t, z.NS, z.RawMax),
		Shown: v.ZoneName(z.Zone)}
	out.KeyProject, out.Until = v.projectsOfRange(z.NS, z.RawMin, z.RawMax)
	in, ok := t.RangeChunks(z)
	if ok {
		key := t.Collection(z.NS).Key
		out.Min, out.Max = KeyOf(key, z.Min), KeyOf(key, z.Max)
		out.Chunks, out.Outside, out.Straddling, out.Shards = &in.Count, &in.Outside, &in.Straddling, in.Shards
	}
	switch wrong := int64(len(in.Misplaced)); {
	case t.Collection(z.NS) == nil:
		out.Problem = "collection is not sharded"
	case !ok:
		out.Problem = "bounds do not fit the shard key"
	case len(t.CarriersOf(z.Zone)) == 0:
		out.Problem = "no shard has this zone"
	case wrong > 0:
		out.Problem = format.Count(wrong) + message.Plural(wrong, " chunk elsewhere", " chunks elsewhere")
	case in.Straddling > 0:
		out.Problem = format.Count(int64(in.Straddling)) + message.Plural(in.Straddling, " chunk straddles", " chunks straddle")
	}
	return out
}

// Pins are the owners and expiry times of pins by project, as the plans that made
// them say. A map that was returned never changes; when another takes its place,
// the version grows.
type Pins interface {
	Pins() (pins map[string]rules.Pin, version uint64)
	// Subscribe returns a channel that receives a value after the pins changed, and
	// the function that ends the subscription.
	Subscribe() (<-chan struct{}, func())
}

// OwnerShown is how many bytes of an owner's name pages show.
const OwnerShown = 120

// PinTermsOf is what is known of a zone that pins a project; zero for other
// zones, and of the past, for which terms are not kept.
func PinTermsOf(v View, zone string) api.PinTerms {
	project, ok := pinnedBy(zone)
	if !ok || v.Past != nil {
		return api.PinTerms{}
	}
	out := api.PinTerms{Pinned: true}
	if pin, known := v.Pins[project]; known {
		out.Expires, out.Owner = api.Time(pin.Expires), &pin.Owner
	}
	return out
}
