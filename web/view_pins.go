package web

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// Pins are what the plans that made pins said of them, by project. The map does
// not change after it was given; the version grows when another takes its place.
type Pins interface {
	Pins() (pins map[string]rules.Pin, version uint64)
	// Subscribe gives a channel that receives a value after the pins changed, and
	// what ends it.
	Subscribe() (<-chan struct{}, func())
}

const ownerShown = 120 // bytes of an owner's name that pages show

func pinZone(project bson.ObjectID) string { return placement.PinZone(project.Hex()) }

// pinnedBy is the project that a zone pins, named as our plans name it.
func pinnedBy(zone string) (project string, ok bool) {
	id, pin, ok := placement.ZoneProject(zone)
	return id.Hex(), pin && ok && pinZone(id) == zone
}

// isPinned tells whether a zone has a shard or a range, and which shards.
func isPinned(t *topology.Table, zone string) (shards []string, ok bool) {
	shards = zoneShards(t)[zone]
	return shards, len(shards) > 0 || slices.ContainsFunc(t.Zones, func(z topology.ZoneRange) bool { return z.Zone == zone })
}

// pinTermsOf is for the API; empty where nothing is known, as of the past.
func pinTermsOf(v View, zone string) api.PinTerms {
	project, ok := pinnedBy(zone)
	pin, known := v.Pins[project]
	if !ok || !known || v.Past != nil {
		return api.PinTerms{}
	}
	return api.PinTerms{Expires: api.Time(pin.Expires), Owner: &pin.Owner}
}

// pinView is what is known of a zone that pins a project; nil for other zones,
// and of the past, where it is not kept.
func pinView(v View, zone string) *templates.Pin {
	project, ok := pinnedBy(zone)
	if !ok || v.Past != nil {
		return nil
	}
	pin, known := v.Pins[project]
	if !known {
		return &templates.Pin{Terms: words.T("pinned.unknown")}
	}
	m := &templates.Pin{Terms: words.T("pinned.never"), Owner: sanitize.Truncate(pin.Owner, ownerShown), Nobody: pin.Owner == ""}
	if !pin.Expires.IsZero() {
		m.Terms = words.T("pinned.expires", "at", pin.Expires.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return m
}

// projectPin is the pin of a project; nil when it is not pinned.
func projectPin(v View, project bson.ObjectID) *templates.Pin {
	shards, ok := isPinned(v.Table, pinZone(project))
	m := pinView(v, pinZone(project))
	if !ok || m == nil {
		return nil
	}
	m.To = words.T("pinned.nowhere")
	if len(shards) > 0 {
		m.To = words.T("pinned.to", "shards", joinWords(shards))
	}
	return m
}
