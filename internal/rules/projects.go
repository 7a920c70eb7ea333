package rules

import (
	"shardboard/internal/topology"
)

// project is the name of a project by its id.
func (ev *evaluation) project(id string) (string, bool) {
	if ev.Directory == nil {
		return "", false
	}
	for _, p := range ev.Directory.Exactly(id) {
		if p.ID.Hex() == id && p.Name != "" {
			return p.Name, true
		}
	}
	return "", false
}

func (ev *evaluation) nameOf(project string) string {
	if name, ok := ev.project(project); ok {
		return name
	}
	return project
}

// projectsIn counts the projects of the directory whose keys meet a chunk; -1
// when that is not known.
func (ev *evaluation) projectsIn(c *topology.Collection, ch topology.Chunk) int {
	field, ok := ev.projectField(c)
	if !ok || ev.Directory == nil || !ev.Directory.Loaded() || field != c.Key.Fields()[0].Name {
		return -1
	}
	n := 0
	for _, p := range ev.Directory.All() {
		if p.DB != c.NS.Database() {
			continue
		}
		if r, err := c.Key.PrefixRange(p.IDValue()); err == nil && ch.Min.Compare(r.Max) < 0 && r.Min.Compare(ch.Max) < 0 {
			n++
		}
	}
	return n
}

// projectField is the field that a collection's rows have their project in.
func (ev *evaluation) projectField(c *topology.Collection) (string, bool) {
	if ev.Profile == nil {
		return "", false
	}
	coll, ok := ev.Profile.Collection(c.NS.Collection())
	return coll.ProjectField, ok && coll.ProjectField != ""
}
