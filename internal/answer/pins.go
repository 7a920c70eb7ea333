package answer

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

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

// PinZone is the zone that pins a project.
func PinZone(project bson.ObjectID) string { return placement.PinZone(project.Hex()) }

// pinnedBy is the project that a zone pins, if its name is one that our plans give.
func pinnedBy(zone string) (project string, ok bool) {
	id, pin, ok := placement.ZoneProject(zone)
	return id.Hex(), pin && ok && PinZone(id) == zone
}

// zoneExists tells whether a zone has a shard or a range, and which shards it has.
func zoneExists(t *topology.Table, zone string) (shards []string, ok bool) {
	shards = t.CarriersOf(zone)
	return shards, len(shards) > 0 || hasRange(t, zone)
}

// hasRange tells whether a range is assigned to a zone.
func hasRange(t *topology.Table, zone string) bool {
	return slices.ContainsFunc(t.Zones, func(z topology.ZoneRange) bool { return z.Zone == zone })
}

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
