package answer

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/placement"
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
