package answer

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// ZoneNames are the zones that any shard or any range names, sorted.
func ZoneNames(t *topology.Table) []string {
	found := map[string]bool{}
	for zone := range t.ZoneShards() {
		found[zone] = true
	}
	for _, z := range t.Zones {
		found[z.Zone] = true
	}
	return natural.Sorted(maps.Keys(found))
}

// PinZone is the zone that pins a project.
func PinZone(project bson.ObjectID) string { return placement.PinZone(project.Hex()) }

// PinnedBy is the project that a zone pins, if its name is one that our plans give.
func PinnedBy(zone string) (project string, ok bool) {
	id, pin, ok := placement.ZoneProject(zone)
	return id.Hex(), pin && ok && PinZone(id) == zone
}

// ZoneExists tells whether a zone has a shard or a range, and which shards it has.
func ZoneExists(t *topology.Table, zone string) (shards []string, ok bool) {
	shards = t.CarriersOf(zone)
	return shards, len(shards) > 0 || HasRange(t, zone)
}

// HasRange tells whether a range is assigned to a zone.
func HasRange(t *topology.Table, zone string) bool {
	return slices.ContainsFunc(t.Zones, func(z topology.ZoneRange) bool { return z.Zone == zone })
}

// ZoneCollection is a collection as the page of zones needs it; one that is not sharded can have no ranges.
func ZoneCollection(t *topology.Table, ns topology.Namespace) api.ZoneCollection {
	out := api.ZoneCollection{NS: string(ns)}
	if c := t.Collection(ns); c != nil {
		out.Sharded, out.Key = true, c.Key.String()
	}
	return out
}

// ZoneRangeOf counts what a range holds and what of it is not where it should
// be; that is the balancer's remaining work. Bounds of a collection that is not
// sharded (yet) cannot be completed and are given as they were written.
func ZoneRangeOf(v View, z topology.ZoneRange) api.ZoneRange {
	t := v.Table
	out := api.ZoneRange{Zone: z.Zone, NS: string(z.NS), Min: v.DocumentOf(z.RawMin), Max: v.DocumentOf(z.RawMax),
		MinText: BoundDocumentText(t, z.NS, z.RawMin), MaxText: BoundDocumentText(t, z.NS, z.RawMax),
		Shown: v.ZoneName(z.Zone)}
	out.KeyProject, out.Until = v.ProjectsOfRange(z.NS, z.RawMin, z.RawMax)
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
	// Pins are the present ones, by project id, and their version.
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
	project, ok := PinnedBy(zone)
	if !ok || v.Past != nil {
		return api.PinTerms{}
	}
	out := api.PinTerms{Pinned: true}
	if pin, known := v.Pins[project]; known {
		out.Expires, out.Owner = api.Time(pin.Expires), &pin.Owner
	}
	return out
}
