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

// ZoneTexts are zones as plain text names them: by their projects and their own names.
func ZoneTexts(v View, zones []string) []string {
	return each(zones, func(zone string) string {
		if text := v.zoneText(zone); text != zone {
			return sanitize.Sentence(text) + " (" + zone + ")"
		}
		return zone
	})
}

// zoneText is a zone as a sentence names it: by its project, if it is named after one.
func (v View) zoneText(zone string) string {
	if z := v.ZoneName(zone); z.ProjectName != "" {
		return z.Kind + ": " + sanitize.Truncate(z.ProjectName, nameInSentence)
	}
	return zone
}
