package answer

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// Pins are what the plans that made pins said of them, by project. The map does
// not change after it was given; the version grows when another takes its place.
type Pins interface {
	Pins() (pins map[string]rules.Pin, version uint64)
	// Subscribe gives a channel that receives a value after the pins changed, and
	// what ends it.
	Subscribe() (<-chan struct{}, func())
}

const OwnerShown = 120 // bytes of an owner's name that pages show

func PinZone(project bson.ObjectID) string { return placement.PinZone(project.Hex()) }

// pinnedBy is the project that a zone pins, named as our plans name it.
func PinnedBy(zone string) (project string, ok bool) {
	id, pin, ok := placement.ZoneProject(zone)
	return id.Hex(), pin && ok && PinZone(id) == zone
}

// isPinned tells whether a zone has a shard or a range, and which shards.
func IsPinned(t *topology.Table, zone string) (shards []string, ok bool) {
	shards = t.CarriersOf(zone)
	return shards, len(shards) > 0 || slices.ContainsFunc(t.Zones, func(z topology.ZoneRange) bool { return z.Zone == zone })
}

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
