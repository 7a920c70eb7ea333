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

// ZoneAndProject is a zone's own name with its project, for texts that are pasted elsewhere.
func (v View) ZoneAndProject(zone string) string {
	return TextAndProject(zone, v.ZoneName(zone).KeyProject, v.Profile.Words)
}

// TextAndProject is a key or a zone with its project behind it, on one line. words puts our sentences into the
// profile's.
func TextAndProject(text string, of api.KeyProject, words func(string) string) string {
	switch {
	case of.ProjectName != "":
		return text + " (" + sanitize.Truncate(sanitize.Sentence(of.ProjectName), nameInSentence) + ")"
	case of.Unlisted:
		return text + words(notListed)
	}
	return text
}

// ZoneText is a zone as a sentence names it: by its project, if it is named after one.
func (v View) ZoneText(zone string) string {
	if z := v.ZoneName(zone); z.ProjectName != "" {
		return z.Kind + ": " + sanitize.Truncate(z.ProjectName, nameInSentence)
	} else if z.Unlisted {
		return zone + v.Profile.Words(notListed)
	}
	return zone
}
