package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
)

// ZoneName is a zone with the project that it pins, or keeps others away from. The zone's own name holds the
// id, so whoever sees the zone may see the project.
func (v View) ZoneName(zone string) api.ZoneName {
	out := api.ZoneName{Zone: zone}
	id, pin, ok := placement.ZoneProject(zone)
	if !ok || v.Profile == nil || !v.Dir.Loaded() {
		return out
	}
	out.Kind = "others of"
	if pin {
		out.Kind = "pin"
	}
	if p, listed := v.Dir.ByID(id); listed {
		out.Project, out.ProjectName = id.Hex(), NameOf(p)
	} else {
		out.Project, out.Unlisted = id.Hex(), true
	}
	return out
}

// zonesNamed are the zones of a list with their projects.
func (v View) zonesNamed(zones []string) []api.ZoneName { return each(zones, v.ZoneName) }

// zoneText is a zone as a sentence names it: by its project, if it is named after one.
func (v View) zoneText(zone string) string {
	if z := v.ZoneName(zone); z.ProjectName != "" {
		return z.Kind + ": " + sanitize.Truncate(z.ProjectName, nameInSentence)
	}
	return zone
}
